/** What `pnpm dev` prints, and says at `/`: commands that can be copied. */
export const whatToTry = (origin: string) => `Lesson 4: a queue in front, a Workflow behind

Place an order, once however often you ask, and follow it:
  curl -i ${origin}/orders -H 'content-type: application/json' -d '{ "orderId": "o-1", "card": "tok_visa", "cents": 450, "lines": [{ "sku": "tea", "quantity": 1 }] }'
  curl ${origin}/orders/o-1 -H "authorization: Bearer $OPERATOR_TOKEN"

Two at once, one of them invalid:
  curl -i ${origin}/orders/batch -H "authorization: Bearer $OPERATOR_TOKEN" -H 'content-type: application/json' -d '{ "orders": [{ "orderId": "o-2" }, { "orderId": "o-3", "card": "tok_visa", "cents": 900, "lines": [{ "sku": "tea", "quantity": 2 }] }] }'

Restart an order that was stopped:
  curl -i -X POST ${origin}/orders/o-1/restart -H "authorization: Bearer $OPERATOR_TOKEN"

Restock a product, one truck at a time, and report its delivery:
  curl -i -X POST ${origin}/products/tea/restock -H "authorization: Bearer $OPERATOR_TOKEN"
  curl -i -X POST ${origin}/products/tea/delivered -H "authorization: Bearer $OPERATOR_TOKEN"

The pairs:
  curl ${origin}/pitfalls
  curl -i -X POST ${origin}/pitfalls/random-instance-id/pitfall

See Workflows and tables in the Local Explorer:
  ${origin}/cdn-cgi/explorer
`;
