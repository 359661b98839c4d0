import type { Model } from "@tau-agent/rpc-protocol/messages";
import { findModel } from "../../models/catalog.ts";
import type { TokenCounts } from "../../provider.ts";
import { type LoopbackOptions, type LoopbackServer, serve } from "../loopback-server.ts";
import type { RuleRequest } from "../rules/rule.ts";
import type { Scenario, Turn } from "../scenario.ts";
import type { Till } from "../till.ts";
import { usageOf } from "../turn-deltas.ts";
import { anthropicBill } from "./anthropic.ts";
import { googleBill } from "./google.ts";
import { type Bill, Ledger } from "./ledger.ts";
import { openAiBill } from "./openai.ts";
import { PrefixIds } from "./prompt.ts";
import type { VendorBill } from "./vendor-bill.ts";

/** A vendor whose billing is simulated. */
export type BillingVendor = "anthropic" | "openai" | "google";

const vendorBills: Readonly<Record<BillingVendor, () => VendorBill>> = {
  anthropic: anthropicBill,
  openai: openAiBill,
  google: googleBill,
};

/** The configuration of a billing server. */
export interface BillingOptions
  extends Pick<LoopbackOptions, "faults" | "records" | "rules" | "port"> {
  readonly vendor: BillingVendor;
  /** The model's replies; by default, a short text. */
  readonly scenario?: Scenario | undefined;
  /** The time in ms, by which cached prompts expire; by default, the system's clock. */
  readonly clock?: (() => number) | undefined;
  /** Additional models with their prices, besides the catalogue. */
  readonly models?: readonly Model[] | undefined;
}

/** A running billing server. */
export interface BillingServer extends Omit<LoopbackServer, "model"> {
  /** The charges so far. */
  report(): Bill;
  /** A model of the vendor, at this server's address. */
  model(id: string): Promise<Model>;
}

/** The reply to a request limited to a single token: it only keeps a cache warm and is not part of a scenario. */
const warmingReply: Turn = { content: "…", stopReason: "length", usage: { output: 1 } };

/**
 * Serves scripted replies on 127.0.0.1 like a vendor and charges for them by the vendor's published rules for
 * cached prompts, at the rates of the catalogue. The usage in the replies is the billed usage. A token is
 * four characters. A reply is charged in full, even if the client leaves early; refused requests cost
 * nothing. A request that allows at most one token of output does not use up a turn.
 */
export async function createBillingServer(options: BillingOptions): Promise<BillingServer> {
  const { vendor, scenario = () => "Done.", clock = Date.now, models = [] } = options;
  const bill = vendorBills[vendor]();
  const ledger = new Ledger();
  const prefixes = new PrefixIds();
  const find = async (id: string): Promise<Model> => {
    const model = models.find((one) => one.id === id) ?? (await findModel(vendor, id));
    if (model === undefined) throw new Error(`The catalogue has no model ${vendor}/${id}`);
    return model;
  };
  const till: Till = {
    serves: bill.apis,
    turnFor(request) {
      const { maxOutput } = bill.read(request);
      return maxOutput !== undefined && maxOutput <= 1 ? warmingReply : undefined;
    },
    async charge(request: RuleRequest, turn: Turn, modelId: string): Promise<TokenCounts> {
      const model = await find(modelId);
      const prompt = bill.read(request);
      const ids = prefixes.of(prompt);
      const { output = 0 } = usageOf(turn, 0);
      const charge = bill.charge(prompt, ids, model, clock());
      return ledger.add({ prompt, ids }, charge, output, model);
    },
  };
  const { faults, records, rules, port } = options;
  const server = await serve({ scenario, faults, records, rules, port }, till);
  return {
    ...server,
    get requestCount() {
      return server.requestCount;
    },
    get connectionCount() {
      return server.connectionCount;
    },
    report: () => ledger.bill,
    async model(id) {
      const model = await find(id);
      const api = bill.apis.find((one) => one === model.api) ?? bill.apis[0];
      return api === undefined ? model : { ...model, api, baseUrl: server.urls[api] };
    },
  };
}
