import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import { isFilledList, modelOf, repeated, schemaFaults, unknownMembers } from "./common.ts";
import { responseSchemaFaults } from "./output-form.ts";
import { type RuleRequest, rulesOf } from "./rule.ts";

const members: ReadonlySet<string> = new Set([
  ...["contents", "systemInstruction", "tools", "toolConfig", "safetySettings"],
  ...["generationConfig", "cachedContent", "labels", "serviceTier", "store", "model"],
]);

const partData = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];
const namePattern = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const imageTypes = /^image\/(?:png|jpeg|webp|heic|heif|gif)$|^(?:audio|video|application|text)\//;

function contentsOf({ body }: RuleRequest): readonly JsonObject[] {
  return listOf(body.contents);
}

function* required({ body }: RuleRequest): Generator<string> {
  for (const name of unknownMembers(body, members)) {
    yield `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
  }
  if (!isFilledList(body.contents)) {
    yield "* GenerateContentRequest.contents: contents is not specified";
  }
}

function* content(request: RuleRequest): Generator<string> {
  for (const [index, { role, parts }] of contentsOf(request).entries()) {
    if (role !== "user" && role !== "model") yield "Please use a valid role: user, model.";
    if (!isFilledList(parts)) {
      yield `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;
    }
    for (const [at, part] of listOf(parts).entries()) {
      yield* partFaults(part, `contents[${index}].parts[${at}]`);
    }
  }
  const first = contentsOf(request)[0];
  if (first !== undefined && first.role !== "user") {
    yield "Please ensure that the first turn of the conversation is a user turn.";
  }
}

function* partFaults(part: JsonObject, place: string): Generator<string> {
  const data = partData.filter((name) => part[name] !== undefined);
  if (data.length !== 1) {
    yield `* GenerateContentRequest.${place}.data: required oneof field 'data' must have one initialized field`;
  }
  if (part.text === "" && part.thoughtSignature === undefined) {
    yield `* GenerateContentRequest.${place}.text: must not be empty`;
  }
  const { thoughtSignature: signature } = part;
  if (signature !== undefined && signature !== "skip_thought_signature_validator") {
    const text = textOf(signature);
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) {
      yield `Invalid value at '${place}.thought_signature' (TYPE_BYTES), Base64 decoding failed for "${text}"`;
    }
  }
  if (part.inlineData !== undefined) {
    const { data: bytes, mimeType } = objectOf(part.inlineData);
    if (textOf(bytes) === "")
      yield `* GenerateContentRequest.${place}.inline_data.data: must not be empty`;
    if (!imageTypes.test(textOf(mimeType))) yield `Unsupported MIME type: ${mimeType}`;
  }
}

interface Turn {
  readonly index: number;
  readonly role: unknown;
  readonly calls: readonly JsonObject[];
  readonly answers: readonly JsonObject[];
}

function turnsOf(request: RuleRequest): Turn[] {
  return contentsOf(request).map(({ role, parts }, index) => {
    const pick = (name: string): JsonObject[] =>
      listOf(parts).flatMap((part) => (part[name] === undefined ? [] : [objectOf(part[name])]));
    return { index, role, calls: pick("functionCall"), answers: pick("functionResponse") };
  });
}

function* calls(request: RuleRequest): Generator<string> {
  const ids: string[] = [];
  for (const { index, role, calls: asked, answers } of turnsOf(request)) {
    for (const { name, args, id } of asked) {
      if (role !== "model") yield "Please ensure that function calls are in a model turn.";
      if (!namePattern.test(textOf(name))) yield badName(`contents[${index}]`);
      if (args !== undefined && !isJsonObject(args)) {
        yield `Invalid value at 'contents[${index}].parts.function_call.args' (type.googleapis.com/google.protobuf.Struct)`;
      }
      if (id !== undefined) ids.push(textOf(id));
    }
    for (const { name, response } of answers) {
      if (!textOf(name)) {
        yield `* GenerateContentRequest.contents[${index}].parts.function_response.name: Name cannot be empty.`;
      }
      if (!isJsonObject(response)) {
        yield `Invalid value at 'contents[${index}].parts.function_response.response' (type.googleapis.com/google.protobuf.Struct)`;
      }
    }
  }
  for (const id of repeated(ids)) yield `Duplicate function call id ${JSON.stringify(id)}.`;
}

function* pairs(request: RuleRequest): Generator<string> {
  const turns = turnsOf(request);
  for (const [index, { calls: asked, answers }] of turns.entries()) {
    const before = turns[index - 1];
    if (asked.length > 0) {
      // A call must follow a user message or results, possibly after text of the model.
      if (before === undefined) {
        yield "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
      }
      if (turns[index + 1]?.answers.length !== asked.length) {
        yield "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
      }
    }
    if (answers.length === 0) continue;
    const open = before?.calls ?? [];
    if (open.length === 0) {
      yield "Please ensure that function response turn comes immediately after a function call turn.";
    }
    for (const { id, name } of answers) {
      const fits = open.some((call) => call.id === id && call.name === name);
      if (!fits) {
        yield `Function response ${JSON.stringify({ id, name })} does not match a function call of the turn before.`;
      }
    }
  }
}

function* tools({ body }: RuleRequest): Generator<string> {
  const declarations = listOf(body.tools).flatMap((tool) => listOf(tool.functionDeclarations));
  for (const [index, declaration] of declarations.entries()) {
    const { name, parametersJsonSchema, parameters } = declaration;
    const place = `tools[0].function_declarations[${index}]`;
    if (!namePattern.test(textOf(name))) yield badName(`${place}.name`);
    const schema = parametersJsonSchema ?? parameters;
    if (schema === undefined) continue;
    if (objectOf(schema).type !== "object" && objectOf(schema).type !== "OBJECT") {
      yield `* GenerateContentRequest.${place}.parameters: schema should be of type OBJECT.`;
    }
    if (parametersJsonSchema === undefined) continue;
    for (const { path, why } of schemaFaults(parametersJsonSchema)) {
      yield `* GenerateContentRequest.${place}.parameters_json_schema${path}: ${why}`;
    }
  }
  for (const name of repeated(declarations.map(({ name }) => textOf(name)))) {
    yield `Duplicate function declaration found: ${name}`;
  }
}

function badName(place: string): string {
  return `Invalid function name (${place}). Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`;
}

const maxThinkingBudget = 32_768;

function* thinking({ body }: RuleRequest): Generator<string> {
  const config = objectOf(objectOf(body.generationConfig).thinkingConfig);
  const { thinkingBudget: budget, thinkingLevel: level } = config;
  if (budget !== undefined && level !== undefined) {
    yield "You can only set only one of thinking budget and thinking level.";
  }
  if (budget === undefined) return;
  if (!Number.isInteger(budget) || Number(budget) < -1 || Number(budget) > maxThinkingBudget) {
    yield `The thinking budget ${budget} is invalid. Please choose a value between 0 and ${maxThinkingBudget}.`;
  }
}

function* output({ body, path }: RuleRequest): Generator<string> {
  const hasFunctions = listOf(body.tools).some(
    ({ functionDeclarations }) => listOf(functionDeclarations).length > 0,
  );
  const place = { model: modelOf(body, path), hasFunctions };
  yield* responseSchemaFaults(objectOf(body.generationConfig), place);
}

export const googleRules = rulesOf("google-generative-ai", {
  required,
  content,
  calls,
  pairs,
  tools,
  thinking,
  output,
});
