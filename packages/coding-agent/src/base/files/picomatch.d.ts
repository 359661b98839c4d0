declare module "picomatch" {
  interface Options {
    readonly dot?: boolean;
    readonly nonegate?: boolean;
  }
  function picomatch(glob: string, options?: Options): (path: string) => boolean;
  namespace picomatch {
    function scan(glob: string): { readonly base: string; readonly isGlob: boolean };
  }
  export default picomatch;
}
