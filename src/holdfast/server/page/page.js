"use strict";

const addElement = (tag, text, parent) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};

// Adds an element with a text; parts between backticks become code.
const addText = (tag, text, parent) => {
  const element = addElement(tag, "", parent);
  (text || "").split("`").forEach((piece, index) => {
    element.append(index % 2 ? addElement("code", piece) : piece);
  });
  return element;
};

const refName = (schema) => schema.$ref.split("/").pop();

// Follows a reference, also one that may be null instead.
const resolve = (schema, types) => {
  const reference = (schema.oneOf || [schema]).find((option) => option.$ref);
  return reference ? types[refName(reference)] : schema;
};

const typeName = (schema) => {
  if (schema.$ref) return refName(schema);
  if (schema.enum) return schema.enum.join(", ");
  const options = schema.anyOf || schema.oneOf;
  if (options) return options.map(typeName).join(" or ");
  if (schema.type === "array") return `list of ${typeName(schema.items || {})}`;
  return schema.format || schema.type || "anything";
};

const exampleBody = (schema, types) => {
  const { properties = {}, required = [] } = resolve(schema, types);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, property]) => [name, property.examples ? property.examples[0] : ""])
  );
};

const addInput = (parent, parameter) => {
  const label = addElement("label", "", parent);
  addElement("b", `${parameter.name}${parameter.required ? " *" : ""}`, label);
  addText("small", ` ${parameter.description}`, label);
  const input = addElement("input", "", label);
  input.placeholder = typeName(parameter.schema);
  if (parameter.schema.default != null) input.placeholder += `: ${parameter.schema.default}`;
  return { ...parameter, input };
};

const addFieldTable = (parent, title, schema, types, isRequest = true) => {
  const { properties, required = [] } = resolve(schema, types);
  if (!properties) return;
  const table = addElement("table", "", addElement("div", "", parent));
  addElement("caption", title, table);
  for (const [name, property] of Object.entries(properties)) {
    const row = addElement("tr", "", table);
    addElement("th", `${name}${isRequest && required.includes(name) ? " *" : ""}`, row);
    addElement("td", typeName(property), row);
    addText("td", property.description, row);
  }
};

const SESSION = "/docs/session";
const SIGNED_IN = "signed in";
const byId = (id) => document.getElementById(id);

const RENEW_AFTER_MS = 300_000;
let renewedAt = 0;

// The page's token is in a cookie that scripts cannot read. Where no sign-in is needed, this also
// gets the first one, and a new one when the old one has expired.
async function renewToken() {
  if (Date.now() - renewedAt < RENEW_AFTER_MS) return;
  renewedAt = Date.now();
  await fetch(SESSION, { method: "POST" });
}

async function request(address, options) {
  await renewToken();
  const answer = await fetch(address, options);
  if (answer.status !== 401) return answer;
  renewedAt = 0;
  await renewToken();
  const again = await fetch(address, options);
  if (again.status === 401) {
    sessionStorage.removeItem(SIGNED_IN);
    byId("sign-in").hidden = false;
    byId("sign-out").hidden = true;
  }
  return again;
}

// Exchanges a token, or the code of a link, for the page's own token.
async function exchange(token) {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(SESSION, { method: "POST", headers });
  byId("refused").textContent = answer.ok ? "" : (await answer.json()).detail;
  byId("sign-in").hidden = answer.ok;
  if (answer.ok) sessionStorage.setItem(SIGNED_IN, "yes");
  return answer.ok;
}

async function signIn(event) {
  event.preventDefault();
  const token = byId("token").value;
  byId("token").value = "";
  if (await exchange(token)) await main();
}

// `holdfast serve` prints an address with a code that can be used once, after the `#`.
async function openLink() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  if (!(await exchange(code))) byId("refused").textContent = "This link was used or has expired.";
}

async function signOut() {
  await fetch(SESSION, { method: "DELETE" });
  sessionStorage.removeItem(SIGNED_IN);
  location.reload();
}

// Shows the events of a stream as they arrive, until the element shows another response.
async function showStream(answer, shown) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let last = shown.textContent;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (shown.textContent !== last) return reader.cancel();
    await renewToken();
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
    const answer = await request(address, { method, headers, body: body ? body.value : undefined });
    if ((answer.headers.get("Content-Type") || "").startsWith("text/event-stream")) {
      shown.textContent = `${method} ${address}\n${answer.status}\n\n`;
      return await showStream(answer, shown);
    }
    const text = await answer.text();
    let formatted = text;
    try { formatted = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
    shown.textContent = `${method} ${address}\n${answer.status}\n\n${formatted}`;
  } catch (problem) {
    shown.textContent = String(problem);
  }
}

function addOperation(parent, method, path, schema, types) {
  const details = addElement("details", "", parent);
  details.dataset.request = `${method} ${path}`;
  const summary = addElement("summary", "", details);
  addElement("b", method, summary);
  addElement("span", path, summary);
  addText("small", schema.summary, summary);
  if (schema.description !== `${schema.summary}.`) addText("p", schema.description, details);
  const fields = schema.parameters.map((parameter) => addInput(details, parameter));
  const content = schema.requestBody && schema.requestBody.content["application/json"];
  let body = null;
  if (content) {
    body = addElement("textarea", "", details);
    body.value = JSON.stringify(exampleBody(content.schema, types), null, 2);
    body.setAttribute("aria-label", "body");
  }
  const button = addElement("button", "Send", details);
  const shown = addElement("pre", "", details);
  if (content) addFieldTable(details, "Request fields", content.schema, types);
  const good = Object.entries(schema.responses).find(([status]) => status < 300);
  const answer = good && good[1].content && good[1].content["application/json"];
  if (answer) addFieldTable(details, "Response fields", answer.schema, types, false);
  button.addEventListener("click", () => send(method, path, fields, body, shown));
}

async function main() {
  const answer = await request("/openapi/openapi.json");
  byId("operations").textContent = "";
  if (!answer.ok) return;
  byId("sign-in").hidden = true;
  byId("sign-out").hidden = !sessionStorage.getItem(SIGNED_IN);
  const schema = await answer.json();
  const types = (schema.components && schema.components.schemas) || {};
  byId("about").replaceChildren(...addText("p", schema.info.description).childNodes);
  const target = byId("operations");
  const sections = new Map();
  for (const [path, methods] of Object.entries(schema.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = (operation.tags && operation.tags[0]) || "other";
      if (!sections.has(tag)) {
        const section = addElement("section", "", target);
        addElement("h2", tag, section);
        sections.set(tag, section);
      }
      addOperation(sections.get(tag), method.toUpperCase(), path, operation, types);
    }
  }
}

byId("sign-in").addEventListener("submit", signIn);
byId("sign-out").addEventListener("click", signOut);
addEventListener("hashchange", () => openLink().then(main));
openLink().then(main);
