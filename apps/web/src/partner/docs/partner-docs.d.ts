/** The module that apps/web/partner-docs.mjs builds from docs/partners. */
declare module 'virtual:partner-docs' {
  export interface PartnerDocument {
    /** Name in the address: the document's file name without `.md`. */
    readonly slug: string;
    readonly title: string;
    /** Markup of the source is escaped, so the HTML is safe to insert. */
    readonly html: string;
    readonly sections: readonly {
      /** Anchor of the section's heading; empty for the beginning of the document. */
      readonly anchor: string;
      readonly title: string;
      readonly text: string;
      /** `text` without tables and code. */
      readonly prose: string;
    }[];
  }
  export const documents: readonly PartnerDocument[];
}
