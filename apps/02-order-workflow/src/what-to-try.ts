/** What `pnpm dev` prints, and says at `/`: commands that can be copied. */
export const whatToTry = (origin: string) => `Lesson 2: the order workflow

Place an order, once however often you ask, and look at its steps:
  curl -i ${origin}/orders -H 'content-type: application/json' -d '{ "orderId": "o-1", "email": "ada@example.com", "card": "tok_visa", "lines": [{ "sku": "tea", "quantity": 2 }] }'
  curl ${origin}/orders/o-1 -H "authorization: Bearer $REVIEW_TOKEN"

Review it:
  curl -i ${origin}/orders/o-1/review -H "authorization: Bearer $REVIEW_TOKEN" -H 'content-type: application/json' -d '{ "approved": true, "reviewer": "bob" }'

Pause, resume, terminate with rollback, restart from a step:
  curl -i -X POST ${origin}/orders/o-1/pause -H "authorization: Bearer $REVIEW_TOKEN"
  curl -i ${origin}/orders/o-1/restart -H "authorization: Bearer $REVIEW_TOKEN" -H 'content-type: application/json' -d '{ "from": "send mail" }'

Take the mail provider down for an order, and repair it with an empty list:
  curl -i -X PUT ${origin}/orders/o-1/outage -H "authorization: Bearer $REVIEW_TOKEN" -H 'content-type: application/json' -d '{ "down": ["mail.send"] }'

The pairs:
  curl ${origin}/pitfalls
  curl -i -X POST ${origin}/pitfalls/one-giant-step/pitfall

See Workflows, tables and emails in the Local Explorer:
  ${origin}/cdn-cgi/explorer
`;
