// Counts in a database, so that a test can tell storage that was kept from fresh storage.
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/block") for (;;);
    if (pathname === "/say") console.error("said", new URL(request.url).searchParams.get("what"));
    if (pathname === "/count") await env.DB.prepare("INSERT INTO visits DEFAULT VALUES").run();
    const { visits } = await env.DB.prepare("SELECT COUNT(*) AS visits FROM visits").first();
    return Response.json({ visits });
  },
};
