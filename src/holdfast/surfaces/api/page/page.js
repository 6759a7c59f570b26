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

// A stream has no end to wait for: what comes is shown, until something else is.
async function follow(answer, shown) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let last = shown.textContent;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (shown.textContent !== last) return reader.cancel();
    shown.textContent = last += part.value;
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
  const token = document.getElementById("token").value;
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const address = query.size ? `${url}?${query}` : url;
  shown.textContent = "…";
  try {
    const answer = await fetch(address, { method, headers, body: body ? body.value : undefined });
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
  const answer = await fetch("/openapi/openapi.json");
  const told = await answer.json();
  const all = (told.components && told.components.schemas) || {};
  document.getElementById("about").textContent = told.info.description || "";
  const target = document.getElementById("operations");
  target.textContent = "";
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

main();
