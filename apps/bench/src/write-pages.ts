/** The pages about performance, from the run that was kept last. */
import { writePerformancePages } from "./comparison/performance-page.ts";

console.log(writePerformancePages().join("\n"));
