declare namespace Cloudflare {
  interface Env {
    WORLD: D1Database;
    EMAIL: SendEmail;
  }
}
