import * as z from "zod/mini";

/** The params of a command that has none. */
export const noParams = () => z.object({});

/** The result of a command whose response carries no `data`. */
export const nothing = () => z.undefined();

/** Whether something an extension may veto was vetoed; then nothing has changed. */
export const Cancelled = () =>
  z.object({
    /** Whether an extension vetoed it; if so, nothing has changed. */
    cancelled: z.boolean(),
  });
