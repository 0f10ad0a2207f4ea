/** What `pnpm dev` prints: commands that can be copied. */
export const whatToTry = (origin: string) => `Lesson 3: a queue between the form and the mail

Sign up, once however often you ask and however you spell it:
  curl -i ${origin}/signup -H 'content-type: application/json' -d '{ "email": "ada@example.com", "name": "Ada" }'
  curl -i ${origin}/signup -H 'content-type: application/json' -d '{ "email": " ada@EXAMPLE.com " }'

Make two dead letters, and decide about them, with the token printed below, after the colon:
  curl -X POST ${origin}/pitfalls/retrying-the-hopeless/fix
  curl -X POST ${origin}/pitfalls/nobody-reads-the-dlq/fix
  ${origin}/
  curl ${origin}/dead-letters -H "authorization: Bearer \${ADMIN_TOKENS#*:}"

The pairs:
  curl ${origin}/pitfalls
  curl -i -X POST ${origin}/pitfalls/no-idempotency/pitfall

See tables and emails in the Local Explorer:
  ${origin}/cdn-cgi/explorer
`;
