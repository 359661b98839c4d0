import * as z from "zod/mini";

/** Whether something an extension may veto was vetoed; then nothing has changed. */
export const Cancelled = () =>
  z.object({
    /** Whether an extension vetoed it; if so, nothing has changed. */
    cancelled: z.boolean(),
  });
