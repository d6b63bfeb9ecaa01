/** Where a command writes; standard output and error in the program, memory in a test. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}
