/** What both sides believe every message to be. Nothing checks it, and some have no `member`. */
export interface Signup {
  team: string;
  member: number;
  email: string;
}
