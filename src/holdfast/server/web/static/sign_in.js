// Exchanges the code of a link, or a token that is typed, for the page's own cookie.
"use strict";

async function signIn(token) {
  const response = await fetch("/docs/session", {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
  });
  if (response.ok) location.replace(location.pathname + location.search);
  else document.querySelector("#refused").textContent = "This token or link is not valid any more.";
}

const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) {
  history.replaceState(null, "", location.pathname + location.search);
  signIn(code);
}
document.querySelector("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(document.querySelector("#token").value);
});
