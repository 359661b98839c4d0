import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFiles } from "./long-files.ts";

/**
 * Starts each project with its long files. Without results of an earlier run, as in CI, vitest sorts by size:
 * a small file that tests a large catalogue came last and ran alone for almost a minute.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const isLong = ({ moduleId }: TestSpecification) =>
      longFiles.includes(relative(root, moduleId));
    const sorted = await super.sort(files);
    const projects = new Set(sorted.map(({ project }) => project.name));
    return [...projects].flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}
