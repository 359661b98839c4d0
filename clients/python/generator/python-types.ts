import { pascal } from "../../../scripts/docs/markdown.ts";

/** The part of JSON Schema that `schema.json` uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
}

/** A class or alias of the generated module. */
interface Definition {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isAlias: boolean;
  /** The names it needs at import time. */
  readonly needs: ReadonlySet<string>;
  readonly text: string;
}

/** Names for types that have none in the schema, by their position. */
const inlineNames: Readonly<Record<string, string>> = {
  "PromptResponse.data": "PromptDisposition",
  "InitializeResponse.data": "HostInfo",
  "InitializeCommand.clientInfo": "ClientInfo",
  "NewSessionResponse.data": "Cancelled",
  "ForkResponse.data": "ForkResult",
  "GetForkMessagesResponse.data": "ForkMessages",
  "GetForkMessagesResponse.data.messages[]": "ForkMessage",
  "GetBudgetResponse.data": "Budget",
  "GetBudgetResponse.data.limits": "BudgetLimits",
  "GetBudgetResponse.data.snapshot": "BudgetSnapshot",
  "GetBudgetResponse.data.snapshot.reason": "BudgetViolationReason",
  "SubagentEnd.verification": "VerificationResult",
  "SubagentEnd.verification.attempts[]": "VerificationAttemptResult",
  "SubagentEnd.verification.attempts[].commandResults[]": "VerificationCommandResult",
  "GetCommandsResponse.data.commands[]": "PromptCommandInfo",
  "ListSessionsResponse.data.sessions[]": "SessionInfo",
  "GetEntriesResponse.data.entries[]": "AnySessionEntry",
  "ModelCost.tiers[]": "ModelCostTier",
  "SessionStats.tokens": "TokenTotals",
  "MessageUpdate.assistantMessageEvent": "AssistantMessageEvent",
  "MessageUpdateDelta.assistantMessageEvent": "AssistantMessageDelta",
  "ImageInput|image": "SourceImage",
  "ImageInput|image.source": "ImageSource",
};

/** The suffix that follows the kind of an alternative in its name. */
const alternativeSuffixes: Readonly<Record<string, string>> = {
  AssistantMessageEvent: "Step",
  AssistantMessageDelta: "DeltaStep",
  KnownSessionEntry: "Entry",
  ImageSource: "ImageSource",
};

/** JSON Schema has only one kind of number; these are floats, all others integers. */
const fractional =
  /^(?:UsageCost|ModelCost|ModelCostTier|BudgetParams)\.|Ms$|\.(?:cost|costUsd|maxCostUsd|percent|timeout)$/;

/** Renders the definitions of a schema as Python types: a TypedDict for each object. */
export class PythonTypes {
  readonly #schemas: Readonly<Record<string, JsonSchema>>;
  readonly #rename: (name: string) => string;
  readonly #shapes = new Map<string, string>();
  readonly #definitions = new Map<string, Definition>();

  constructor(schemas: Readonly<Record<string, JsonSchema>>, rename: (name: string) => string) {
    this.#schemas = schemas;
    this.#rename = rename;
    for (const [path, name] of Object.entries(inlineNames)) {
      const schema = this.#at(path);
      if (schema !== undefined) this.#shapes.set(shapeOf(schema), name);
    }
  }

  /** All definitions, each after those it needs at import time. */
  render(): string {
    const done = new Set<string>();
    const texts: string[] = [];
    const visit = (definition: Definition): void => {
      if (done.has(definition.name)) return;
      done.add(definition.name);
      for (const name of definition.needs) {
        const needed = this.#definitions.get(name);
        if (needed !== undefined) visit(needed);
      }
      texts.push(definition.text);
    };
    const all = [...this.#definitions.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const definition of all) if (!definition.isAlias) visit(definition);
    for (const definition of all) visit(definition);
    return texts.join("\n\n\n");
  }

  /** The names of all definitions, sorted. */
  names(): string[] {
    return [...this.#definitions.keys()].sort();
  }

  /** Adds a named union of several definitions of the schema. */
  union(name: string, description: string, members: readonly string[]): void {
    const anyOf = members.map((member) => ({ $ref: `#/$defs/${member}` }));
    this.#define(name, { description, anyOf });
  }

  /** The type of a schema; types it contains are defined on the way. */
  type(schema: JsonSchema, path: string): string {
    if (schema.$ref !== undefined) return this.#reference(schema.$ref.split("/").at(-1) ?? "");
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return this.#enumeration(schema);
    const options = schema.oneOf ?? schema.anyOf;
    if (options !== undefined) return this.#union(schema, options, path);
    if (Array.isArray(schema.type)) {
      return schema.type.map((type) => this.type({ ...schema, type }, path)).join(" | ");
    }
    switch (schema.type) {
      case "string":
        return "str";
      case "boolean":
        return "bool";
      case "null":
        return "None";
      case "integer":
        return "int";
      case "number":
        return fractional.test(path) ? "float" : "int";
      case "array":
        return `list[${schema.items === undefined ? "Any" : this.type(schema.items, `${path}[]`)}]`;
      case "object":
        return this.#object(schema, path);
      default:
        return "Any";
    }
  }

  #enumeration(schema: JsonSchema): string {
    const name = this.#shapes.get(shapeOf(schema));
    if (name !== undefined) return this.#define(name, schema);
    return `Literal[${(schema.enum ?? []).map(literal).join(", ")}]`;
  }

  #union(schema: JsonSchema, options: readonly JsonSchema[], path: string): string {
    const name = this.#shapes.get(shapeOf(schema));
    if (name !== undefined) return this.#define(name, schema);
    return [...new Set(options.map((option) => this.#alternative(option, path)))].join(" | ");
  }

  #alternative(schema: JsonSchema, path: string): string {
    const kind = kindOf(schema);
    return this.type(schema, kind === undefined ? path : `${path}|${kind}`);
  }

  #object(schema: JsonSchema, path: string): string {
    const { properties = {}, additionalProperties } = schema;
    if (Object.keys(properties).length > 0) {
      return this.#define(this.#shapes.get(shapeOf(schema)) ?? inlineName(path), schema);
    }
    const member = typeof additionalProperties === "object" ? additionalProperties : {};
    return `dict[str, ${this.type(member, `${path}{}`)}]`;
  }

  #reference(name: string): string {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`The schema has no ${name}`);
    return this.#define(this.#rename(name), schema);
  }

  #define(name: string, schema: JsonSchema): string {
    const known = this.#definitions.get(name);
    if (known !== undefined) {
      if (shapeOf(known.schema) !== shapeOf(schema)) throw new Error(`Two types are named ${name}`);
      return name;
    }
    const isAlias = schema.properties === undefined;
    // Stored before its members are rendered, because a type may contain itself.
    const placeholder = { name, schema, isAlias, needs: new Set<string>(), text: "" };
    this.#definitions.set(name, placeholder);
    const definition = isAlias ? this.#alias(placeholder) : this.#class(placeholder);
    this.#definitions.set(name, definition);
    return name;
  }

  #alias(definition: Definition): Definition {
    const { name, schema } = definition;
    // Keyed by its own name, because an alias may have the same shape as another type.
    const options = schema.oneOf ?? schema.anyOf;
    const members = options?.map((option) => this.#alternative(option, name));
    const type =
      members === undefined
        ? `Literal[${(schema.enum ?? []).map(literal).join(", ")}]`
        : members.join(" | ");
    const needs = new Set(members);
    const oneLine = `${name}: TypeAlias = ${type}`;
    const text =
      oneLine.length <= 100
        ? oneLine
        : members === undefined
          ? `${name}: TypeAlias = Literal[\n${(schema.enum ?? []).map((value) => `    ${literal(value)},\n`).join("")}]`
          : `${name}: TypeAlias = Union[\n${members.map((member) => `    ${member},\n`).join("")}]`;
    return { ...definition, needs, text: `${text}${docstring(schema.description, "\n")}` };
  }

  #class(definition: Definition): Definition {
    const { name, schema } = definition;
    const { properties = {}, required = [], description } = schema;
    const fields = Object.entries(properties).map(
      ([member, type]): Field => ({
        member,
        isRequired: required.includes(member),
        type: this.type(type, `${name}.${member}`),
        description: type.description,
      }),
    );
    const isWord = ({ member }: Field) => keywords.test(member);
    const words = fields.filter((field) => !field.isRequired && isWord(field));
    const optional = fields.filter((field) => !field.isRequired && !isWord(field));
    const needed = fields.filter((field) => field.isRequired);
    const body = (list: readonly Field[]) =>
      list
        .map(
          ({ member, type, description }) =>
            `    ${identifier(member)}: ${type}\n${docstring(description, "    ", "\n")}`,
        )
        .join("");
    const base = needed.some(isWord)
      ? functional(`_${name}`, needed)
      : `class _${name}(TypedDict):\n${body(needed)}`.trimEnd();
    const wordBase = functional(`_${name}Words`, words, "    total=False,\n");
    const doc = docstring(description, "    ", "\n\n");
    if (optional.length + words.length === 0) {
      return { ...definition, text: `class ${name}(TypedDict):\n${doc}${body(needed)}`.trimEnd() };
    }
    if (needed.length + words.length === 0) {
      const text = `class ${name}(TypedDict, total=False):\n${doc}${body(optional)}`.trimEnd();
      return { ...definition, text };
    }
    const bases = [
      ...(needed.length > 0 ? [{ name: `_${name}`, text: base }] : []),
      ...(words.length > 0 ? [{ name: `_${name}Words`, text: wordBase }] : []),
    ];
    const names = bases.map((each) => each.name).join(", ");
    const own = `class ${name}(${names}, total=False):\n${doc}${body(optional)}`.trimEnd();
    return { ...definition, text: [...bases.map((each) => each.text), own].join("\n\n\n") };
  }

  /** The schema at `Name.member[].member`; `|kind` picks an alternative. */
  #at(path: string): JsonSchema | undefined {
    const [name = "", ...steps] = path.split(/(?=[.[|])/);
    let schema = this.#schemas[name];
    for (const step of steps) {
      if (step === "[]") schema = schema?.items;
      else if (step.startsWith("|")) {
        const options = schema?.oneOf ?? schema?.anyOf ?? [];
        schema = options.find((option) => kindOf(option) === step.slice(1));
      } else schema = schema?.properties?.[step.slice(1)];
    }
    if (schema === undefined) throw new Error(`The schema has nothing at ${path}`);
    return schema;
  }
}

function kindOf({ properties = {} }: JsonSchema): string | undefined {
  const kind = (properties.type ?? properties.role ?? properties.method)?.const;
  return typeof kind === "string" ? kind : undefined;
}

/** `SessionStats.contextUsage` becomes SessionStatsContextUsage, `Name|kind` has its own rule. */
function inlineName(path: string): string {
  const [parent = "", kind] = path.split("|");
  if (kind !== undefined) {
    const suffix = alternativeSuffixes[parent];
    return suffix === undefined ? `${parent}${pascal(kind)}` : `${pascal(kind)}${suffix}`;
  }
  return path
    .replace(/Response\.data\b/, ".data")
    .replaceAll("[]", "")
    .replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Two schemas are the same type if they differ only in descriptions. */
function shapeOf(schema: JsonSchema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    key === "description" && typeof value === "string" ? undefined : value,
  );
}

/** A string or number as a Python literal. */
function literal(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  return JSON.stringify(value);
}

/** A docstring, or an empty string for an empty description. */
export function docstring(text: string | undefined, before: string, after = ""): string {
  if (text === undefined) return "";
  const indent = before.trim() === "" ? before.replace("\n", "") : "";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"""', "'''");
  const lines = wrap(escaped, 100 - indent.length - 6);
  const body = lines.length === 1 ? lines[0] : `${lines.join(`\n${indent}`)}\n${indent}`;
  return `${before}"""${body}"""${after}`;
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

const keywords =
  /^(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

/** A member of a type. */
interface Field {
  readonly member: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly description: string | undefined;
}

/** The functional form, for members with the name of a Python keyword; it requires its types to be defined first. */
function functional(name: string, fields: readonly Field[], options = ""): string {
  const members = fields.map(({ member, type, description }) => {
    const lines = description === undefined ? [] : wrap(description, 90);
    const comment = lines.map((line) => `        # ${line}\n`);
    return `${comment.join("")}        ${literal(member)}: ${type},\n`;
  });
  return `${name} = TypedDict(\n    ${literal(name)},\n    {\n${members.join("")}    },\n${options})`;
}

/** A member's name as a valid Python name. */
function identifier(name: string): string {
  if (keywords.test(name)) throw new Error(`${name} is a word of Python's own`);
  return name;
}
