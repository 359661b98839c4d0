import * as fc from "fast-check";

const ids = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 30 }).map((id) => id.toString(16).padStart(8, "0")) },
  fc.constantFrom("ABCDEF01", "long-id-of-another-host", "", "\u00e9\u00e9\u00e9\u00e9", "1234567", "q\"uoted"),
);
const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("a\nb\tc", "\ud800 alone", "\u2028", "\u0000", "\\", '"', '{"type":"message"}', "x".repeat(3000)),
);
const counts = fc.oneof(fc.nat(100_000), fc.constantFrom(0, 1.5, -3, 1e21, 1e-7, 123456789012345680, 5e-324));
const usage = fc.record(
  {
    input: counts,
    output: counts,
    cacheRead: counts,
    cacheWrite: counts,
    totalTokens: counts,
    reasoning: counts,
    cost: fc.record({ input: counts, output: counts, cacheRead: counts, cacheWrite: counts, total: counts }),
  },
  { requiredKeys: ["input", "output", "cacheRead", "cacheWrite", "cost"] },
);
const block = fc.oneof(
  fc.record(
    { type: fc.constant("text"), text: texts, textSignature: texts },
    { requiredKeys: ["type", "text"] },
  ),
  fc.record({ type: fc.constant("image"), data: texts, mimeType: fc.constant("image/png") }),
  fc.record(
    { type: fc.constant("thinking"), thinking: texts, thinkingSignature: texts, redacted: fc.boolean() },
    { requiredKeys: ["type", "thinking"] },
  ),
  fc.record({
    type: fc.constant("toolCall"),
    id: texts,
    name: fc.constantFrom("read", "task"),
    arguments: fc.dictionary(texts, fc.jsonValue({ maxDepth: 3 })),
  }),
);
const blocks = fc.array(block, { maxLength: 3 });
const user = fc.record({
  role: fc.constant("user"),
  content: fc.oneof(texts, blocks),
  timestamp: counts,
});
const assistant = fc.record(
  {
    role: fc.constant("assistant"),
    content: blocks,
    api: texts,
    provider: texts,
    model: texts,
    usage,
    stopReason: fc.constantFrom("stop", "length", "toolUse", "error", "aborted"),
    errorMessage: texts,
    responseId: texts,
    timestamp: counts,
  },
  {
    requiredKeys: ["role", "content", "api", "provider", "model", "usage", "stopReason", "timestamp"],
  },
);
const details = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom({ interrupted: true }, { interrupted: false }, { todos: [] }, { results: [] }),
);
const toolResult = fc.record(
  {
    role: fc.constant("toolResult"),
    toolCallId: texts,
    toolName: fc.constantFrom("read", "bash", "task", "todo", "todo_write"),
    content: blocks,
    details,
    usage,
    isError: fc.boolean(),
    timestamp: counts,
  },
  { requiredKeys: ["role", "toolCallId", "toolName", "content", "isError", "timestamp"] },
);
const bash = fc.record({
  role: fc.constant("bashExecution"),
  command: texts,
  output: texts,
  exitCode: fc.constant(0),
  cancelled: fc.boolean(),
  truncated: fc.boolean(),
  timestamp: counts,
});

/** Replaces a value by one of another type, adds a member, or leaves one out. */
const spoil = (arbitrary: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc
    .tuple(arbitrary, fc.nat(), fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined)))
    .map(([value, at, other]) => {
      const names = [...Object.keys(value), "extra", "usage", "attachments", "__proto__"];
      return Object.fromEntries([
        ...Object.entries(value),
        [names[at % names.length] ?? "extra", other],
      ]);
    });
const message = fc.oneof(
  { weight: 6, arbitrary: user },
  { weight: 6, arbitrary: assistant },
  { weight: 6, arbitrary: toolResult },
  { weight: 1, arbitrary: bash },
  { weight: 1, arbitrary: spoil(fc.oneof(user, assistant, toolResult)) },
);

const times = fc.oneof(
  { weight: 5, arbitrary: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()) },
  fc.constantFrom("2026-02-30T00:00:00.000Z", "2026-01-01T00:00:00Z", "yesterday", "2024-02-29T23:59:59.999Z", "2026-13-01T00:00:00.000Z"),
);
const common = { id: ids, parentId: fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 6, arbitrary: ids }), timestamp: times };
const entry = fc.oneof(
  { weight: 12, arbitrary: fc.record(
      { type: fc.constant("message"), ...common, promptId: texts, message },
      { requiredKeys: ["type", "id", "parentId", "timestamp", "message"] },
    ),
  },
  fc.record({ type: fc.constant("compaction"), ...common, summary: texts, firstKeptEntryId: ids, tokensBefore: counts }),
  fc.record({ type: fc.constant("session_info"), ...common, name: texts }),
  fc.record({ type: fc.constant("custom"), ...common, customType: fc.constantFrom("tau:usage", "x"), data: fc.record({ usage, purpose: fc.constantFrom("cache_warming", "x") }) }),
  fc.record({ type: fc.constant("label"), ...common, targetId: ids, label: texts }),
  fc.record({ type: fc.constant("model_change"), ...common, provider: texts, modelId: texts }),
  fc.record({ type: fc.constant("of_the_future"), ...common }),
  fc.record({ type: fc.constant("branch_summary"), ...common, summary: texts, fromId: ids }),
  fc.record({
    type: fc.constant("context_edit"),
    ...common,
    targetId: ids,
    replacement: fc.option(fc.record({ content: texts })),
  }),
  fc.record({
    type: fc.constant("custom_message"),
    ...common,
    customType: fc.constantFrom("ttsr-injection", "x"),
    content: texts,
    display: fc.boolean(),
    details: fc.constantFrom({}, { rules: ["a"], contextMode: "discard" }),
  }),
  fc.record({
    type: fc.constant("custom"),
    ...common,
    customType: fc.constant("environment"),
    data: fc.constantFrom({ date: "2026-01-01", platform: "linux x64" }, {}),
  }),
  spoil(fc.record({ type: fc.constant("message"), ...common, message })),
);

/** The same value with the members of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

const ways: readonly ((value: object) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(reversed(value)),
  // Formatted as by Python.
  (value) => JSON.stringify(value, null, 1).replaceAll(/\n */g, " "),
  // Formatted as by hosts whose encoder escapes every character.
  (value) =>
    JSON.stringify(value).replaceAll(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  (value) => JSON.stringify(value).replaceAll("e", "\\u0065"),
  (value) => `${JSON.stringify(value)} `,
  // With a duplicate name, of which the last one counts.
  (value) => JSON.stringify(value).replace('{"type"', '{"id":"twice","type"'),
  (value) => JSON.stringify(value).replace('"role":', '"role":"user","role":'),
];
const line = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(entry, fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.nat(ways.length - 1)))
      .map(([value, way]) => (ways[way] as (typeof ways)[number])(value)),
  },
  fc.constantFrom("", "   ", "null", "[]", "{}", "not json", '{"type":"message"', "\u0000\u0000\u0000", "\ufeff{}"),
);
const headerOf = (members: object): string =>
  JSON.stringify({ type: "session", ...members, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" });
const header = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(headerOf({ version: 3 }), headerOf({ version: 3, name: "\u00e9" })) },
  fc.constantFrom("", headerOf({ version: 4 }), '{"type":"session"}', "not a header"),
);
const damage = fc.option(fc.record({ at: fc.nat(), byte: fc.nat(255), isCut: fc.boolean() }), { freq: 3 });

/** The bytes of a session file: well-formed ones, those of other writers, and files damaged in the usual ways. */
export const sessionFile: fc.Arbitrary<Buffer> = fc
  .tuple(
    header,
    fc.array(line, { maxLength: 25 }),
    fc.constantFrom("\n", "\n", "\n", "\r\n"),
    fc.option(fc.nat(), { freq: 2 }),
    damage,
  )
  .map(([head, lines, end, cutAt, damaged]) => {
    const body = Buffer.from(lines.map((text) => text + end).join(""));
    const cut = cutAt === null ? body : body.subarray(0, cutAt % (body.length + 1));
    return Buffer.concat([Buffer.from(head + end), damagedBytes(cut, damaged)]);
  });

function damagedBytes(
  bytes: Buffer,
  damaged: { at: number; byte: number; isCut: boolean } | null,
): Buffer {
  if (damaged === null || bytes.length === 0) return bytes;
  const at = damaged.at % bytes.length;
  if (damaged.isCut) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + damaged.byte)]);
  const changed = Buffer.from(bytes);
  changed[at] = damaged.byte;
  return changed;
}
