/** The pages about performance and cost, from the runs that were kept last. */
import { writeCostPage } from "./bill/cost-page.ts";
import { writePerformancePages } from "./comparison/performance-page.ts";

console.log([...writePerformancePages(), ...writeCostPage()].join("\n"));
