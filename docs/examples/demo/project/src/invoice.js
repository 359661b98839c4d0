import { formatCents, shareOf } from "./money.js";
import { prorate } from "./proration.js";

const VAT_PERCENT = 20;

/** An invoice for desks (`{ monthlyCents, from, to }`) and room hours (`{ hours, hourlyCents }`). */
export function createInvoice({ desks = [], rooms = [] }) {
  const lines = [
    ...desks.map(({ monthlyCents, from, to }) => ({
      text: `Desk, ${from} to ${to}`,
      cents: prorate(monthlyCents, from, to),
    })),
    ...rooms.map(({ hours, hourlyCents }) => ({
      text: `Meeting room, ${hours} h`,
      cents: Math.round(hours * hourlyCents),
    })),
  ];
  const netCents = lines.reduce((sum, line) => sum + line.cents, 0);
  const vatCents = shareOf(netCents, VAT_PERCENT, 100);
  return { lines, netCents, vatCents, totalCents: netCents + vatCents };
}

/** An invoice as text, one line each. */
export function printInvoice(invoice) {
  const rows = invoice.lines.map(({ text, cents }) => `${text}: ${formatCents(cents)}`);
  return [...rows, `Total: ${formatCents(invoice.totalCents)}`].join("\n");
}
