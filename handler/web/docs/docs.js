// The page /docs: renders /openapi.json.
import { el, prose, fields, typeOf, Resolver } from "./schema.js";

const methods = ["get", "post", "put", "delete", "patch"];

const note = document.getElementById("note");
const content = document.getElementById("content");
const contents = document.getElementById("contents");
const find = document.getElementById("find");

function pretty(value) { return typeof value === "string" ? value.trimEnd() : JSON.stringify(value, null, 2); }

// copyable returns a text with a copy button, if the browser allows it.
function copyable(text) {
  const box = el("div", { class: "copyable" }, el("pre", { tabindex: "0" }, el("code", {}, text)));
  if (navigator.clipboard) {
    const button = el("button", { type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    box.append(button);
  }
  return box;
}

// quoted returns a word quoted for a shell.
function quoted(text) { return `'${text.replaceAll("'", String.raw`'\''`)}'`; }

// breakable returns a path that can wrap after a slash.
function breakable(path) { return path.split(/(?<=\/)/).flatMap((part) => [part, el("wbr")]); }

// curl returns a command line that makes the call to this server.
function curl(resolver, path, method, parameters, operation) {
  let url = path;
  for (const p of parameters.filter((p) => p.in === "path")) url = url.replace(`{${p.name}}`, p.example ?? p.name);
  const words = ["curl"];
  if (method !== "get" && method !== "post") words.push("-X", method.toUpperCase());
  const scheme = operation.security?.map((either) => Object.keys(either)[0])[0];
  if (scheme) {
    const { value } = resolver.follow(resolver.spec.components.securitySchemes[scheme]);
    words.push("-H", value.type === "apiKey" ? quoted(`${value.name}: u_1`) : '"Authorization: Bearer $TOKEN"');
  }
  const [kind, body] = Object.entries(resolver.follow(operation.requestBody).value.content ?? {})[0] ?? [];
  if (body) {
    const example = resolver.follow(Object.values(body.examples ?? {})[0]).value.value;
    words.push("-H", quoted(`Content-Type: ${kind}`), "--data-binary");
    words.push(quoted(typeof example === "string" ? example.trimEnd() : JSON.stringify(example ?? {})));
  }
  words.push(quoted(location.origin + url));
  return words.join(" ");
}

function examples(resolver, media) {
  return Object.entries(media.examples ?? {}).map(([name, example]) => {
    const { value } = resolver.follow(example);
    return el("details", {}, el("summary", {}, /^\d+$/.test(name) ? `${name}: ` : "Example: ", value.summary ?? name), el("pre", { tabindex: "0" }, el("code", {}, pretty(value.value))));
  });
}

function parameterTable(resolver, parameters) {
  if (!parameters.length) return [];
  return [el("h4", {}, "Parameters"), el("table", {},
    el("thead", {}, el("tr", {}, ["Name", "In", "Value"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, parameters.map((p) => el("tr", {},
      el("td", {}, el("code", {}, p.name), " ", p.required ? el("span", { class: "must" }, "required") : ""),
      el("td", {}, p.in),
      el("td", {}, prose(p.description), el("span", { class: "type" }, typeOf(resolver, p.schema)))))))];
}

// refusal shows only the codes: the fields of all refusals are the same.
function refusal(resolver, content = {}) {
  return Object.values(content).map((body) => examples(resolver, body));
}

function media(resolver, content = {}) {
  return Object.entries(content).map(([kind, body]) => el("div", {},
    el("p", {}, el("code", {}, kind), " ", body.schema ? el("span", { class: "type" }, typeOf(resolver, body.schema)) : ""),
    body.schema ? prose(resolver.whole(body.schema).value.description) : [],
    body.schema ? fields(resolver, body.schema) : [],
    examples(resolver, body)));
}

function answers(resolver, responses) {
  return Object.entries(responses).map(([status, response]) => {
    const { value } = resolver.follow(response);
    const headers = Object.entries(value.headers ?? {}).map(([name, header]) => el("li", {},
      el("code", {}, name), " ", prose(resolver.follow(header).value.description)));
    return el("details", { open: status === "200" },
      el("summary", {}, el("span", { class: `status ${status < "400" ? "good" : "bad"}` }, status), " ", prose(value.description).flatMap((p) => [...p.childNodes])),
      status < "400" ? media(resolver, value.content) : refusal(resolver, value.content),
      headers.length ? el("details", {}, el("summary", {}, "Headers"), el("ul", { class: "fields" }, headers)) : []);
  });
}

function who(resolver, operation) {
  const names = (operation.security ?? []).flatMap((either) => Object.keys(either));
  if (!names.length) return el("p", { class: "soft" }, "Anybody may call it.");
  return el("details", {}, el("summary", {}, "Who may call: ", names.join(", ")),
    el("ul", { class: "fields" }, names.map((name) => {
      const { value } = resolver.follow(resolver.spec.components.securitySchemes[name]);
      const header = value.type === "apiKey" ? value.name : "Authorization: Bearer";
      return el("li", {}, el("code", {}, header), prose(value.description));
    })));
}

// later returns a part that is created when it is opened: all routes together have twenty
// thousand elements, which take half a second on a phone.
function later(summary, make) {
  const details = el("details", { class: "parts" }, el("summary", {}, summary));
  details.addEventListener("toggle", () => details.append(el("div", {}, make())), { once: true });
  return details;
}

function article(resolver, { path, method, item, operation }) {
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((p) => resolver.follow(p).value);
  const body = operation.requestBody && resolver.follow(operation.requestBody).value;
  return el("article", { id: operation.operationId, "data-words": `${method} ${path} ${operation.summary}`.toLowerCase() },
    el("h3", {}, el("a", { href: `#${operation.operationId}` }, el("span", { class: `verb ${method}` }, method.toUpperCase()), " ", el("code", {}, path)),
      el("span", {}, operation.summary)),
    prose(operation.description), who(resolver, operation),
    copyable(curl(resolver, path, method, parameters, operation)),
    later(["parameters", "body"].filter((part) => (part === "body" ? body : parameters.length)).concat("answers").join(", ").replace(/^./, (c) => c.toUpperCase()), () => [
      parameterTable(resolver, parameters),
      body ? [el("h4", {}, "Body"), prose(body.description), media(resolver, body.content)] : [],
      el("h4", {}, "Answers"), answers(resolver, operation.responses)]));
}

function render(spec) {
  const resolver = new Resolver(spec);
  const routes = Object.entries(spec.paths).flatMap(([path, item]) => methods.filter((method) => item[method])
    .map((method) => ({ path, method, item, operation: item[method] })));
  content.replaceChildren(el("h2", {}, `${spec.info.title} API`), ...prose(spec.info.description));
  contents.replaceChildren();
  for (const tag of spec.tags) {
    const own = routes.filter((route) => route.operation.tags.includes(tag.name));
    content.append(el("section", { "aria-label": tag.name }, el("h2", {}, tag.name), prose(tag.description), own.map((route) => article(resolver, route))));
    contents.append(el("section", {}, el("h2", {}, tag.name), el("ul", {}, own.map((route) => el("li", {},
      el("a", { href: `#${route.operation.operationId}` }, el("span", { class: `verb ${route.method}` }, route.method.toUpperCase()), el("span", {}, breakable(route.path))))))));
  }
}

// filter hides the routes that do not contain all the words.
function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const route of content.querySelectorAll("article")) {
    route.hidden = !words.every((word) => route.dataset.words.includes(word));
    contents.querySelector(`a[href="#${route.id}"]`).parentElement.hidden = route.hidden;
  }
  for (const section of document.querySelectorAll("main > section, #contents > section")) {
    section.hidden = !section.querySelector("article:not([hidden]), li:not([hidden])");
  }
}

// showRoute opens the route in the URL's fragment.
function showRoute() {
  const route = document.getElementById(location.hash.slice(1));
  if (!route?.matches("article")) return;
  route.querySelector(".parts").open = true;
  route.scrollIntoView();
}

addEventListener("hashchange", showRoute);
find.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
    event.preventDefault();
    find.focus();
  }
  if (event.key === "Escape" && event.target === find) {
    find.value = "";
    filter();
  }
});

try {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  render(await answer.json());
  note.remove();
  showRoute(); // the browser looked for it before it existed
} catch (error) {
  note.textContent = `/openapi.json could not be read: ${error.message}. Reload to try again.`;
  note.className = "note error";
  content.replaceChildren();
  contents.replaceChildren();
  document.querySelector(".columns").before(note);
}
