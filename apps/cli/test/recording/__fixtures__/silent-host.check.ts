import { it } from "vitest";

// Stands for a helper that starts hosts in a way that nothing records.
const startHost = (): void => {};

it("has a host that is not heard", () => startHost());
