import { expect, it } from "vitest";
import { SystemCalls } from "./system-calls.ts";

const table = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000600           3       200         4 futex
 40.00    0.000400           4       100           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000           3       300         4 total
`;

it("adds up the system calls of several programs", () => {
  const calls = new SystemCalls([table, table]);
  expect(calls.total).toBe(600);
  expect(calls.top(1)).toEqual([{ name: "futex", count: 400 }]);
});
