import { it } from "vitest";

// Imitates a helper that starts hosts without recording them.
const startHost = (): void => {};

it("has a host that is not heard", () => startHost());
