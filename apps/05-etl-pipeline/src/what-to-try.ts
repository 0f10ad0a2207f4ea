import { dayBefore } from "./days.ts";

/** What `pnpm dev` prints, and says at `/`: commands that can be copied. */
export const whatToTry = (origin: string, now: number) => `Lesson 5: the ETL pipeline

Make files, in another terminal and in this folder. Every night has some that are broken:
  pnpm data --day ${dayBefore(now)}

Load the day, once however often you ask, and look at it:
  curl -i ${origin}/runs -H "authorization: Bearer $ETL_TOKEN" -H 'content-type: application/json' -d '{ "day": "${dayBefore(now)}" }'
  curl ${origin}/runs/${dayBefore(now)} -H "authorization: Bearer $ETL_TOKEN"
  curl '${origin}/runs/${dayBefore(now)}/rejects?limit=5' -H "authorization: Bearer $ETL_TOKEN"

Load it again. The same files change nothing, a file that was corrected replaces its rows:
  curl -i -X POST ${origin}/runs/${dayBefore(now)}/restart -H "authorization: Bearer $ETL_TOKEN"

The pairs:
  curl ${origin}/pitfalls
  curl -i -X POST ${origin}/pitfalls/load-that-cannot-repeat/pitfall

See Workflows, the bucket and the tables in the Local Explorer:
  ${origin}/cdn-cgi/explorer
`;
