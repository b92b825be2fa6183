/** One field of a form: its label, its input, what is expected, and what is wrong with it. */
import { type Html, html } from '../../lib/html.ts';

export interface Input {
  id: string;
  name: string;
  label: string;
  value: string;
  hint?: string | undefined;
  /** What is wrong with it, in the payer's words. */
  problem?: string | undefined;
  /** What can be chosen; without it anything can be typed. */
  choices?: { prompt: string; list: readonly string[] } | undefined;
  autocomplete?: string;
  inputmode?: string;
  isFocused?: boolean;
  /** Further attributes of the input, and a class of the whole. */
  traits?: Html | undefined;
  kind?: string;
  /** A piece that stands beside the label. */
  beside?: Html | undefined;
}

export function inputOf(input: Input): Html {
  const { id, name, label, value, hint, problem, choices, autocomplete = 'off', inputmode = 'text' } = input;
  const attributes = html`id="${id}" name="${name}" required aria-describedby="${id}-error${hint && ` ${id}-hint`}"${
    problem && html` aria-invalid="true"`
  }${input.isFocused && html` autofocus`}${input.traits}`;
  return html`<div class="field ${input.kind}">
<label for="${id}">${label}</label>
${input.beside}
${
  choices
    ? html`<select ${attributes}><option value="">${choices.prompt}</option>${choices.list.map(
        (choice) => html`<option${choice === value && html` selected`}>${choice}</option>`,
      )}</select>`
    : html`<input ${attributes} value="${value}" autocomplete="${autocomplete}" inputmode="${inputmode}" autocapitalize="${
        autocomplete.endsWith('name') ? 'words' : 'none'
      }" spellcheck="false">`
}
<div>
<p class="error" id="${id}-error"${!problem && html` hidden`}>${problem}</p>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
</div>
</div>`;
}
