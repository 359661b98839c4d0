interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

type Definitions = Record<string, JsonSchema>;

/** Members that no document shows. */
const hostOnly = ["pendingRequests", "permissionMode", "toolExecution"];

/** Members of the state that a dialect's document does not show, although Tau sends them in every dialect. */
const statesWithout: Readonly<Record<string, readonly string[]>> = {
  Pi: ["interruptMode", "queueMode", "queuedMessageCount", "tokens", "cost", ...hostOnly],
  Pisces: ["queueMode", "pendingMessageCount", "tokens", "cost", ...hostOnly],
  OhMyPi: [
    "steeringMode",
    "followUpMode",
    "interruptMode",
    "pendingMessageCount",
    "tokens",
    "cost",
    ...hostOnly,
  ],
};

/**
 * Also allows the frames of a dialect exactly as its document shows them: frames of other pi-compatible hosts
 * belong to the dialect even if Tau sends more members.
 */
export function allowDocumentedForms(defs: Definitions): void {
  for (const [dialect, members] of Object.entries(statesWithout))
    allowState(defs, dialect, members);
  for (const [name, update] of Object.entries(defs)) {
    const step = update.properties?.assistantMessageEvent;
    if (!/^(?:OhMyPi)?MessageUpdate$/.test(name) || step?.oneOf === undefined) continue;
    const oneOf = step.oneOf.map((option) => withOptional(option, ["id", "toolName"]));
    const properties = { ...update.properties, assistantMessageEvent: { ...step, oneOf } };
    defs[name] = { ...update, properties };
  }
}

function allowState(defs: Definitions, dialect: string, members: readonly string[]): void {
  const { GetStateResponse: response, SessionState: state } = defs;
  const frames = defs[`${dialect}HostFrame`];
  if (!response || !state || !frames?.anyOf) throw new Error(`There is no state in ${dialect}`);
  const data = { ...response.properties?.data, $ref: `#/$defs/${dialect}SessionState` };
  defs[`${dialect}SessionState`] = withOptional(state, members);
  defs[`${dialect}GetStateResponse`] = {
    ...response,
    properties: { ...response.properties, data },
  };
  const anyOf = frames.anyOf.map((option) =>
    option.$ref === "#/$defs/GetStateResponse"
      ? { $ref: `#/$defs/${dialect}GetStateResponse` }
      : option,
  );
  defs[`${dialect}HostFrame`] = { ...frames, anyOf };
}

function withOptional(schema: JsonSchema, members: readonly string[]): JsonSchema {
  const required = schema.required?.filter((name) => !members.includes(name));
  return required === undefined ? schema : { ...schema, required };
}
