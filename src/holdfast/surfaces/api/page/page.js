"use strict";

const make = (tag, text, parent) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};

const resolve = (schema, all) =>
  schema && schema.$ref ? all[schema.$ref.split("/").pop()] : schema || {};

const example = (schema, all) => {
  const found = resolve(schema, all);
  if (!found.properties) return {};
  const required = found.required || [];
  return Object.fromEntries(
    Object.keys(found.properties).filter((name) => required.includes(name)).map((name) => [name, ""])
  );
};

const field = (parent, parameter) => {
  const label = make("label", `${parameter.name}${parameter.required ? " *" : ""} `, parent);
  const input = make("input", "", label);
  input.placeholder = parameter.description || "";
  return { ...parameter, input };
};

const SESSION = "/docs/session";
const SIGNED_IN = "signed in";
const part = (id) => document.getElementById(id);

// The page's own token is in a cookie that only the server reads. Where nobody has to sign in,
// the page itself brings a new one when the old one has expired.
async function ask(address, options) {
  const answer = await fetch(address, options);
  if (answer.status !== 401) return answer;
  await fetch("/docs");
  const again = await fetch(address, options);
  if (again.status === 401) {
    sessionStorage.removeItem(SIGNED_IN);
    part("sign-in").hidden = false;
    part("sign-out").hidden = true;
  }
  return again;
}

async function signIn(event) {
  event.preventDefault();
  const headers = { Authorization: `Bearer ${part("token").value}` };
  const answer = await fetch(SESSION, { method: "POST", headers });
  part("token").value = "";
  part("refused").textContent = answer.ok ? "" : (await answer.json()).detail;
  if (!answer.ok) return;
  part("sign-in").hidden = true;
  sessionStorage.setItem(SIGNED_IN, "yes");
  await main();
}

async function signOut() {
  await fetch(SESSION, { method: "DELETE" });
  sessionStorage.removeItem(SIGNED_IN);
  location.reload();
}

// A stream has no end to wait for: what comes is shown, until something else is.
async function follow(answer, shown) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let last = shown.textContent;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (shown.textContent !== last) return reader.cancel();
    shown.textContent = last += piece.value;
  }
}

async function send(method, path, fields, body, shown) {
  let url = path;
  const query = new URLSearchParams();
  const headers = {};
  for (const { name, in: place, input } of fields) {
    if (place === "path") url = url.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (place === "query" && input.value) query.append(name, input.value);
    else if (place === "header" && input.value) headers[name] = input.value;
  }
  if (body) headers["Content-Type"] = "application/json";
  const address = query.size ? `${url}?${query}` : url;
  shown.textContent = "…";
  try {
    const answer = await ask(address, { method, headers, body: body ? body.value : undefined });
    if ((answer.headers.get("Content-Type") || "").startsWith("text/event-stream")) {
      shown.textContent = `${method} ${address}\n${answer.status}\n\n`;
      return await follow(answer, shown);
    }
    const text = await answer.text();
    let told = text;
    try { told = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
    shown.textContent = `${method} ${address}\n${answer.status}\n\n${told}`;
  } catch (problem) {
    shown.textContent = String(problem);
  }
}

function operation(parent, method, path, told, all) {
  const details = make("details", "", parent);
  const summary = make("summary", "", details);
  make("b", method, summary);
  make("span", path, summary);
  if (told.description) make("p", told.description, details);
  const fields = (told.parameters || []).map((parameter) => field(details, parameter));
  const content = told.requestBody && told.requestBody.content["application/json"];
  let body = null;
  if (content) {
    body = make("textarea", "", details);
    body.value = JSON.stringify(example(content.schema, all), null, 2);
  }
  const button = make("button", "Send", details);
  const shown = make("pre", "", details);
  button.addEventListener("click", () => send(method, path, fields, body, shown));
}

async function main() {
  const answer = await ask("/openapi/openapi.json");
  part("operations").textContent = "";
  if (!answer.ok) return;
  part("sign-out").hidden = !sessionStorage.getItem(SIGNED_IN);
  const told = await answer.json();
  const all = (told.components && told.components.schemas) || {};
  document.getElementById("about").textContent = told.info.description || "";
  const target = part("operations");
  const sections = new Map();
  for (const [path, methods] of Object.entries(told.paths)) {
    for (const [method, one] of Object.entries(methods)) {
      const tag = (one.tags && one.tags[0]) || "other";
      if (!sections.has(tag)) {
        const section = make("section", "", target);
        make("h2", tag, section);
        sections.set(tag, section);
      }
      operation(sections.get(tag), method.toUpperCase(), path, one, all);
    }
  }
}

part("sign-in").addEventListener("submit", signIn);
part("sign-out").addEventListener("click", signOut);
main();
