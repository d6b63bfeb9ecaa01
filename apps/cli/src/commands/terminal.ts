/** Where a command reads and writes; the standard streams in the program, memory in a test. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Puts a question to the person at the keyboard; absent where there is none. */
  readonly ask?: (question: string) => Promise<string>;
  /** All of the standard input. */
  readonly input?: () => Promise<string>;
}
