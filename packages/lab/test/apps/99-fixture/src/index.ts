/** The Worker of the fixture: a lesson that has nothing but pairs. */
export default { fetch: () => new Response("the lesson") };
