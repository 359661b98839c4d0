import type { WireFormat } from "../../src/testing/wire/wire-format.ts";
import type { Random } from "./random.ts";

type Mutation = (events: string[], random: Random, wire: WireFormat) => void;

const oddValues = [
  () => null,
  () => 0,
  () => -7,
  () => 1e308,
  () => "",
  () => "12",
  () => true,
  () => [],
  () => ({}),
  () => [null, [[]]],
  () => ({ type: "unheard_of", id: {}, text: 3 }),
  () => "x".repeat(50_000),
  () => "\ud800 lone",
  () => nested(2_000),
] as const;

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let count = 0; count < depth; count++) value = [value];
  return value;
}

/** The possible faults of a reply; each reply gets one to four of them. */
const mutations: readonly [Mutation, ...Mutation[]] = [
  function cut(events, random) {
    const at = random.below(events.length);
    events.splice(at + 1);
    events[at] = (events[at] ?? "").slice(0, random.below(events[at]?.length ?? 0));
  },
  function drop(events, random) {
    events.splice(random.below(events.length), 1);
  },
  function duplicate(events, random) {
    const at = random.below(events.length);
    events.splice(random.below(events.length + 1), 0, events[at] ?? "");
  },
  function reorder(events, random) {
    const [moved = ""] = events.splice(random.below(events.length), 1);
    events.splice(random.below(events.length + 1), 0, moved);
  },
  oddMember,
  oddMember,
  oddMember,
  function lostMember(events, random) {
    changeJson(events, random, (parent, key) => {
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete (parent as Record<string, unknown>)[key];
    });
  },
  function error(events, random, wire) {
    const writer = wire.createWriter({ id: "r", model: "m", usage: {} });
    const code = random.pick(["overloaded_error", "rate_limit_exceeded", "unheard_of", ""]);
    events.splice(random.below(events.length + 1), 0, writer.error("It broke", code));
  },
  function noise(events, random) {
    const lines = [
      ": note\n\n",
      "data: null\n\n",
      "data: 1\n\n",
      "data: []\n\n",
      "data: {}\n\n",
    ] as const;
    const more = [
      "data: {broken\n\n",
      "event: ping\ndata: {}\n\n",
      "retry: 5\n\n",
      "\n",
      "data:\n\n",
    ] as const;
    events.splice(random.below(events.length + 1), 0, random.pick([...lines, ...more]));
  },
];

function oddMember(events: string[], random: Random): void {
  changeJson(events, random, (parent, key) => {
    (parent as Record<string, unknown>)[key] = random.pick(oddValues)();
  });
}

/** Changes a random member in the JSON of an event. */
function changeJson(
  events: string[],
  random: Random,
  change: (parent: object, key: string) => void,
): void {
  const at = random.below(events.length);
  const [, head = "", json = ""] =
    /^([\s\S]*?data: ?)(\{[\s\S]*\})\s*$/.exec(events[at] ?? "") ?? [];
  if (json === "") return;
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    return;
  }
  const places: [object, string][] = [];
  collect(data, places, 0);
  const place = places[random.below(places.length)];
  if (place === undefined) return;
  change(...place);
  events[at] = `${head}${JSON.stringify(data)}\n\n`;
}

function collect(value: unknown, places: [object, string][], depth: number): void {
  if (typeof value !== "object" || value === null || depth > 8) return;
  for (const [key, member] of Object.entries(value)) {
    places.push([value, key]);
    collect(member, places, depth + 1);
  }
}

/** The bytes of a reply with faults, split anywhere. */
export function mutate(events: string[], random: Random, wire: WireFormat): Uint8Array[] {
  const changed = [...events];
  for (let count = 1 + random.below(4); count > 0 && changed.length > 0; count--) {
    random.pick(mutations)(changed, random, wire);
  }
  const text = changed.join("");
  const bytes = Buffer.from(wire.toBytes?.(text) ?? text);
  // A byte that is not valid UTF-8.
  if (random.chance(0.05) && bytes.length > 0) bytes[random.below(bytes.length)] = 0xff;
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = start + 1 + random.below(random.chance(0.2) ? 5 : 4_000);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}
