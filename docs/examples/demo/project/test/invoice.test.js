import assert from "node:assert/strict";
import { test } from "node:test";
import { createInvoice, printInvoice } from "../src/invoice.js";

test("charges a whole month in full", () => {
  const desk = { monthlyCents: 31000, from: "2026-08-01", to: "2026-08-31" };
  assert.equal(createInvoice({ desks: [desk] }).netCents, 31000);
});

test("charges a desk taken in mid-April for half of the month", () => {
  const desk = { monthlyCents: 30000, from: "2026-04-16", to: "2026-04-30" };
  const { netCents } = createInvoice({ desks: [desk] });
  assert.equal(netCents, 15000);
});

test("never charges more than the month's rent in February", () => {
  const desk = { monthlyCents: 28000, from: "2026-02-01", to: "2026-02-28" };
  const { netCents } = createInvoice({ desks: [desk] });
  assert.equal(netCents, 28000);
});

test("adds value added tax to desks and rooms", () => {
  const invoice = createInvoice({
    desks: [{ monthlyCents: 31000, from: "2026-08-01", to: "2026-08-10" }],
    rooms: [{ hours: 1.5, hourlyCents: 2400 }],
  });
  assert.deepEqual([invoice.netCents, invoice.vatCents], [13600, 2720]);
  assert.match(printInvoice(invoice), /Total: 163\.20$/);
});
