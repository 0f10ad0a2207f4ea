declare namespace Cloudflare {
  interface Env {
    MIGRATIONS: Record<"DB" | "WORLD", import("cloudflare:test").D1Migration[]>;
  }
}
