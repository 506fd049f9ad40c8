// Schemas as nested lists. All text is inserted as text, never as markup.

// el creates an element: el("p", { class: "soft" }, "text", child, …).
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== ""));
  return node;
}

// prose returns the paragraphs of a description; text in `backticks` becomes code.
export function prose(text) {
  if (!text) return [];
  return text.trim().split(/\n\s*\n/).map((paragraph) =>
    el("p", {}, paragraph.replace(/\s+/g, " ").split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part))));
}

// Resolver follows the references of one document.
export class Resolver {
  constructor(spec) { this.spec = spec; }

  // follow returns the target of a reference, overridden by the fields next to the reference, and
  // its name.
  follow(value) {
    let name = "";
    for (let depth = 0; value && value.$ref && depth < 20; depth++) {
      const { $ref, ...beside } = value;
      const path = $ref.replace(/^#\//, "").split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
      name = path.at(-1);
      value = { ...path.reduce((at, part) => at?.[part], this.spec), ...beside };
    }
    return { value: value ?? {}, name };
  }

  // whole merges allOf into the schema: it is shown as one list of fields.
  whole(schema) {
    const { value, name } = this.follow(schema);
    const merged = { ...value, properties: {}, required: [...(value.required ?? [])] };
    for (const part of value.allOf ?? []) {
      const other = this.whole(part).value;
      merged.type ??= other.type;
      merged.additionalProperties ??= other.additionalProperties;
      Object.assign(merged.properties, other.properties);
      merged.required.push(...(other.required ?? []));
    }
    Object.assign(merged.properties, value.properties);
    return { value: merged, name };
  }
}

// kind describes a schema's type in a few words.
function kind(resolver, schema) {
  const { value, name } = resolver.whole(schema);
  if (value.const !== undefined) return JSON.stringify(value.const);
  if (value.enum) return value.enum.map((option) => JSON.stringify(option)).join(" | ");
  const options = value.oneOf;
  if (options?.some((option) => option.type || option.$ref)) {
    return options.map((option) => kind(resolver, option)).join(" or ");
  }
  if (value.type === "array") return `list of ${kind(resolver, value.items ?? {})}`;
  const type = [value.type ?? "anything"].flat().join(" or ");
  return name && type === "object" ? name : type;
}

// bounds describes the constraints that the type does not include.
function bounds(schema) {
  const said = [];
  const say = (text, ...values) => { if (values.every((value) => value !== undefined)) said.push(text(...values)); };
  const between = (low, high, what) => {
    if (low !== undefined && high !== undefined) said.push(`${low} to ${high}${what}`);
    else { say((n) => `at least ${n}${what}`, low); say((n) => `at most ${n}${what}`, high); }
  };
  between(schema.minimum, schema.maximum, "");
  say((n) => `more than ${n}`, schema.exclusiveMinimum);
  say((n) => `less than ${n}`, schema.exclusiveMaximum);
  between(schema.minLength, schema.maxLength, " characters");
  between(schema.minItems, schema.maxItems, " entries");
  between(schema.minProperties, schema.maxProperties, " fields");
  // These formats are only relevant to client generators.
  if (!["int64", "double", "binary"].includes(schema.format)) say((format) => (format === "date-time" ? "RFC 3339" : format), schema.format);
  say((pattern) => `like ${pattern}`, schema.pattern);
  say((value) => `default ${JSON.stringify(value)}`, schema.default);
  say((values) => `such as ${values.map((value) => JSON.stringify(value)).join(", ")}`, schema.examples);
  return said;
}

// fields returns lists of a schema's fields; none for a plain value. A recursive schema ends
// where it repeats.
export function fields(resolver, schema, above = []) {
  const { value, name } = resolver.whole(schema);
  if (name && above.includes(name)) return [];
  const inside = name ? [...above, name] : above;
  if (value.type === "array") return fields(resolver, value.items ?? {}, inside);
  const entries = Object.entries(value.properties).map(([key, inner]) =>
    field(resolver, key, inner, value.required.includes(key), inside));
  if (typeof value.additionalProperties === "object") {
    entries.push(field(resolver, "any other", value.additionalProperties, false, inside));
  }
  for (const one of value.oneOf ?? []) entries.push(...option(resolver, one, inside));
  return entries.length ? [el("ul", { class: "fields" }, entries)] : [];
}

// option shows one of several alternatives: under its name, if it has fields.
function option(resolver, schema, above) {
  const lists = fields(resolver, schema, above);
  const { value, name } = resolver.whole(schema);
  if (!name || !lists.length) return lists.flatMap((list) => [...list.children]);
  return [el("li", {}, el("code", {}, name), prose(value.description), lists)];
}

function field(resolver, name, schema, must, above) {
  const { value } = resolver.whole(schema);
  const type = [kind(resolver, schema), ...bounds(value)];
  if (value.type === "array" && value.items) type.push(...bounds(resolver.whole(value.items).value).map((text) => `each ${text}`));
  return el("li", {},
    el("code", {}, name), " ", el("span", { class: "type" }, type.join(" · ")), " ",
    must ? el("span", { class: "must" }, "required") : "",
    prose(value.description), fields(resolver, schema, above));
}

// typeOf returns the line above the fields of a body or a parameter.
export function typeOf(resolver, schema) {
  return [kind(resolver, schema), ...bounds(resolver.whole(schema).value)].join(" · ");
}
