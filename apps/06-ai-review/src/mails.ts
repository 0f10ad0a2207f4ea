import type { Invitation } from "./review-link.ts";

/** What the reviewer gets when a draft is ready. */
export const invitationMail = (invitation: Invitation, model: string, link: string) => ({
  to: invitation.reviewer,
  subject: `Please review draft ${invitation.draftId}`,
  text: `Draft ${invitation.draftId} is ready. It was written by ${model}.\n\n${howTo(invitation, link)}`,
});

/** What the reviewer gets when nothing has come back. */
export const reminderMail = (invitation: Invitation, model: string, link: string) => ({
  to: invitation.reviewer,
  subject: `Still waiting: draft ${invitation.draftId}`,
  text: `Draft ${invitation.draftId}, written by ${model}, still waits for you.\n\n${howTo(invitation, link)}`,
});

const howTo = ({ expires }: Invitation, link: string) =>
  `Read it and decide here:\n${link}\n\nThis works once, until ${new Date(Number(expires)).toISOString()}. ` +
  "Whoever has the link can decide: keep it to yourself.\n";
