import type { LessonFlows } from "@durable-lessons/lab/flow";

/** A token of the gauntlet's own runtime. */
const TOKEN = "token-of-the-gauntlets-own-runtime";
const authorization = { authorization: `Bearer ${TOKEN}` };

/** How the gauntlet starts this lesson's own code. */
export default {
  vars: { REVIEW_TOKEN: TOKEN, GRACE_PERIOD: 50, RETRY_DELAY: 10 },
  flows: [
    {
      name: "an order",
      workflow: "ORDERS",
      runOf: (id) => `order-${id}`,
      start: (lesson, id) =>
        lesson.send("POST", "/orders", {
          orderId: id,
          email: `ada-${id}@example.com`,
          card: "tok_visa",
          lines: [{ sku: "tea", quantity: 2 }],
        }),
      exceptions: [
        {
          trial: "mail.send always fails",
          breaks: "undone-leaves-nothing",
          because:
            "The parcel has left, so nothing is compensated: the order stays shipped, without its email.",
          cure: 'POST /orders/:id/restart from "send mail"',
        },
        {
          trial: "mail.send: every answer lost",
          breaks: "undone-leaves-nothing",
          because: "The parcel has left, and the mail too: only the order does not know.",
          cure: 'POST /orders/:id/restart from "send mail"',
        },
      ],
      async tend(lesson, id, says) {
        const response = await lesson.send("GET", `/orders/${id}`, undefined, authorization);
        const { state }: { state?: string } = JSON.parse(await response.text());
        if (state !== "in review") return;
        const review = { approved: says === "yes", reviewer: "bob" };
        await (await lesson.send("POST", `/orders/${id}/review`, review, authorization)).text();
      },
    },
  ],
} satisfies LessonFlows;
