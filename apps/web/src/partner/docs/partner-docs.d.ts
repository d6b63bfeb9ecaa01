/** What apps/web/partner-docs.mjs makes of docs/partners when the pages are built. */
declare module 'virtual:partner-docs' {
  export interface PartnerDocument {
    /** As in the address: the name of its file without `.md`. */
    readonly slug: string;
    readonly title: string;
    /** Without any markup of the source's own: it was escaped. */
    readonly html: string;
    readonly sections: readonly {
      /** Of its heading; empty: the beginning. */
      readonly anchor: string;
      readonly title: string;
      readonly text: string;
      /** The same without its tables and its code. */
      readonly prose: string;
    }[];
  }
  export const documents: readonly PartnerDocument[];
}
