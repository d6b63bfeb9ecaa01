/**
 * Gathers what is asked during one turn of the event loop and asks it together: a command costs more than what it asks, here
 * as well as in Redis.
 */
export class TurnBatch<Q, A> {
  private questions: Q[] = [];
  private answers: Promise<readonly A[]> | undefined;

  /** @param run answers in the order of the questions, as many as there are */
  constructor(private readonly run: (questions: readonly Q[]) => Promise<readonly A[]>) {}

  /** @throws what `run` throws */
  async ask(question: Q): Promise<A> {
    const place = this.questions.push(question) - 1;
    this.answers ??= new Promise((resolve) => {
      setImmediate(() => {
        const { questions } = this;
        this.questions = [];
        this.answers = undefined;
        resolve(this.run(questions));
      });
    });
    return (await this.answers)[place] as A;
  }
}
