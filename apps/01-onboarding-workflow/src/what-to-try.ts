/** What `pnpm dev` prints, and says at `/`: commands that can be copied. */
export const whatToTry = (origin: string) => `Lesson 1: the first Workflow

Onboard a user, once however often you ask:
  curl -i ${origin}/onboard -H 'content-type: application/json' -d '{ "userId": "ada", "email": "ada@example.com", "planType": "pro" }'
  curl ${origin}/status/onboard-ada -H "authorization: Bearer $OPERATOR_TOKEN"

The same through the queue, and by the cron:
  curl -i ${origin}/onboard/queue -H "authorization: Bearer $OPERATOR_TOKEN" -H 'content-type: application/json' -d '{ "userId": "bob", "email": "bob@example.com", "planType": "free" }'
  curl '${origin}/cdn-cgi/local/scheduled?cron=0+8+*+*+*'

The pairs:
  curl ${origin}/pitfalls
  curl -i -X POST ${origin}/pitfalls/side-effect-outside-step/pitfall

See Workflows, tables and emails in the Local Explorer:
  ${origin}/cdn-cgi/explorer
`;
