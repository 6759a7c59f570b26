"use strict";

const make = (tag, text, parent) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};

// What stands between backticks is code.
const say = (tag, text, parent) => {
  const element = make(tag, "", parent);
  (text || "").split("`").forEach((piece, index) => {
    element.append(index % 2 ? make("code", piece) : piece);
  });
  return element;
};

const named = (schema) => schema.$ref.split("/").pop();

// A shape by its name, also where nothing may be sent instead.
const resolve = (schema, all) => {
  const found = (schema.oneOf || [schema]).find((one) => one.$ref);
  return found ? all[named(found)] : schema;
};

const kind = (schema) => {
  if (schema.$ref) return named(schema);
  if (schema.enum) return schema.enum.join(", ");
  const either = schema.anyOf || schema.oneOf;
  if (either) return either.map(kind).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items || {})}`;
  return schema.format || schema.type || "anything";
};

const example = (schema, all) => {
  const { properties = {}, required = [] } = resolve(schema, all);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, told]) => [name, told.examples ? told.examples[0] : ""])
  );
};

const field = (parent, parameter) => {
  const label = make("label", "", parent);
  make("b", `${parameter.name}${parameter.required ? " *" : ""}`, label);
  say("small", ` ${parameter.description}`, label);
  const input = make("input", "", label);
  input.placeholder = kind(parameter.schema);
  if (parameter.schema.default != null) input.placeholder += `: ${parameter.schema.default}`;
  return { ...parameter, input };
};

const fieldsOf = (parent, title, schema, all, asked = true) => {
  const { properties, required = [] } = resolve(schema, all);
  if (!properties) return;
  const table = make("table", "", make("div", "", parent));
  make("caption", title, table);
  for (const [name, told] of Object.entries(properties)) {
    const row = make("tr", "", table);
    make("th", `${name}${asked && required.includes(name) ? " *" : ""}`, row);
    make("td", kind(told), row);
    say("td", told.description, row);
  }
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
  details.dataset.request = `${method} ${path}`;
  const summary = make("summary", "", details);
  make("b", method, summary);
  make("span", path, summary);
  say("small", told.summary, summary);
  if (told.description !== `${told.summary}.`) say("p", told.description, details);
  const fields = told.parameters.map((parameter) => field(details, parameter));
  const content = told.requestBody && told.requestBody.content["application/json"];
  let body = null;
  if (content) {
    body = make("textarea", "", details);
    body.value = JSON.stringify(example(content.schema, all), null, 2);
    body.setAttribute("aria-label", "body");
  }
  const button = make("button", "Send", details);
  const shown = make("pre", "", details);
  if (content) fieldsOf(details, "What can be sent", content.schema, all);
  const good = Object.entries(told.responses).find(([status]) => status < 300);
  const answer = good && good[1].content && good[1].content["application/json"];
  if (answer) fieldsOf(details, "What is answered", answer.schema, all, false);
  button.addEventListener("click", () => send(method, path, fields, body, shown));
}

async function main() {
  const answer = await ask("/openapi/openapi.json");
  part("operations").textContent = "";
  if (!answer.ok) return;
  part("sign-out").hidden = !sessionStorage.getItem(SIGNED_IN);
  const told = await answer.json();
  const all = (told.components && told.components.schemas) || {};
  part("about").replaceChildren(...say("p", told.info.description).childNodes);
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
