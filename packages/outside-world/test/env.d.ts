declare namespace Cloudflare {
  interface Env {
    WORLD: D1Database;
    EMAIL: SendEmail;
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
