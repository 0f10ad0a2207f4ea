/** What `pnpm dev` prints, and says at `/`: commands that can be copied. */
export const whatToTry = (origin: string) => `Lesson 6: a model writes, a person decides

Ask for a draft, once however often you ask:
  curl -i ${origin}/drafts -H "authorization: Bearer $DRAFT_TOKEN" -H 'content-type: application/json' -d '{ "draftId": "d-1", "prompt": "Why is tea green?", "reviewer": "bob@example.com" }'
  curl ${origin}/drafts/d-1 -H "authorization: Bearer $DRAFT_TOKEN"

The reviewer's email with the link is in the Local Explorer, among the emails:
  ${origin}/cdn-cgi/explorer

Open the link in a browser, decide, and read what was published:
  curl -i ${origin}/articles/d-1

The pairs:
  curl ${origin}/pitfalls
  curl -i -X POST ${origin}/pitfalls/generate-again-on-replay/pitfall
`;
