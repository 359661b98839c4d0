import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFiles } from "./long-files.ts";

/**
 * Begins each project with its long files. Without results of an earlier run, as in CI, vitest goes by size: a
 * small file that tries a large catalogue came last, and ran on alone for most of a minute.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const isLong = ({ moduleId }: TestSpecification) =>
      longFiles.includes(relative(root, moduleId));
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()].flatMap((own) => [
      ...own.filter(isLong),
      ...own.filter((file) => !isLong(file)),
    ]);
  }
}
