/** The texts of the panel in English, and the type of those in other languages. */
import { en } from './en.ts';

/** The start page of the sandbox is no page of the panel. */
const { start: _start, ...panel } = en;
export const english = panel;

/** A text, or a function that composes one. */
type Text = string | ((...values: never[]) => string);

/** The same texts in another language. */
type Translated<Node> = Node extends string
  ? string
  : Node extends Text
    ? Node
    : { readonly [Key in keyof Node]: Translated<Node[Key]> };

export type PanelTexts = Translated<typeof english>;
