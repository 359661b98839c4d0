/** Writes the pages about performance and cost from the latest kept runs. */
import { writeCostPage } from "./bill/cost-page.ts";
import { writePerformancePages } from "./comparison/performance-page.ts";

console.log([...writePerformancePages(), ...writeCostPage()].join("\n"));
