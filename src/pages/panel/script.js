// Enhances the pages of the panel. Every page works without it. Times are shown in the viewer's zone.
// Enhances the pages of the panel: times in the viewer's zone, pages that refresh themselves, links to copy, progress of
// uploads and downloads. Every page works without it.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  time.title = `${time.textContent.trim()} UTC`;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

// On a phone the entry of this page may be outside the window.
for (const entry of document.querySelectorAll('nav [aria-current], .tabs [aria-current]')) {
  entry.scrollIntoView({ block: 'nearest', inline: 'center' });
}

const refresh = document.querySelector('[data-refresh]');
if (refresh) {
  setInterval(() => {
    if (!document.hidden && !document.querySelector('details[open]')) location.reload();
  }, refresh.dataset.refresh * 1000);
}

// The browser offers the clipboard to secure pages only.
const copyOnClick = (button, textOf, copied) => {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(textOf());
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
};

// Values with `data-copy` get a button that copies them.
for (const value of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small copy';
  button.textContent = value.dataset.copy;
  copyOnClick(button, () => value.textContent, value.dataset.copied);
  value.after(' ', button);
}

// Links to send to a colleague.
for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy-link]') : []) {
  button.hidden = false;
  copyOnClick(button, () => new URL(button.dataset.copyLink, location.href).href, button.dataset.copied);
}

// A list whose order is in number fields: buttons move an entry, and a changed number moves it, too.
const ordered = [...document.querySelectorAll('[data-order]')];
const list = ordered[0]?.parentElement;
const numberOf = (entry) => entry.querySelector('.position');
const renumber = () =>
  [...list.children].forEach((entry, index) => {
    numberOf(entry).value = index + 1;
  });
for (const entry of ordered) {
  for (const button of entry.querySelectorAll('[data-move]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      if (button.dataset.move === 'up') entry.previousElementSibling?.before(entry);
      else entry.nextElementSibling?.after(entry);
      renumber();
      button.focus();
    });
  }
  numberOf(entry).addEventListener('change', () => {
    const others = [...list.children].filter((other) => other !== entry);
    const before = others[Math.max(0, Number(numberOf(entry).value) - 1)];
    if (before) before.before(entry);
    else list.append(entry);
    renumber();
  });
}

// The preview follows what is typed into its form.
const preview = document.querySelector('[data-preview]');
if (preview) {
  const { elements } = preview.closest('form');
  const colour = elements['branding.colour'];
  const frame = preview.querySelector('iframe');
  const notes = preview.querySelector('[data-preview-notes]');
  const button = preview.querySelector('[data-preview-button]');
  if (button) button.hidden = true;
  let last = frame.src;
  let timer;

  const update = async () => {
    const query = new URLSearchParams({ scheme: elements.preview_scheme.value, page: elements.preview_page.value });
    for (const name of preview.dataset.previewed.split(' ')) query.set(name, elements[name].value.trim());
    const source = `${new URL(preview.dataset.preview, location)}?${query}`;
    if (source === last) return;
    last = source;
    frame.contentWindow.location.replace(source);
    const answer = await fetch(`${preview.dataset.preview}/notes?${query}`);
    if (!answer.ok || source !== last) return;
    notes.replaceChildren(
      ...(await answer.json()).notes.map((note) => {
        const item = document.createElement('li');
        item.textContent = note;
        return item;
      }),
    );
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(update, 250);
  };
  preview.closest('form').addEventListener('input', schedule);

  // A colour picker beside the text of the colour, which can be empty.
  const picker = document.createElement('input');
  picker.type = 'color';
  picker.className = 'picker';
  picker.ariaLabel = colour.labels[0].textContent;
  picker.disabled = colour.matches(':disabled');
  const isColour = (text) => /^#[0-9a-f]{6}$/i.test(text);
  if (isColour(colour.value)) picker.value = colour.value;
  picker.addEventListener('input', () => {
    colour.value = picker.value;
  });
  colour.addEventListener('input', () => {
    if (isColour(colour.value)) picker.value = colour.value;
  });
  colour.after(picker);
}

for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}

const countText = (number) => number.toLocaleString();
const sizeText = (bytes) => {
  const [number, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
  return `${number.toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`;
};

// Downloads: shows how many rows have arrived. Where the browser can write files the rows go to the disk at once,
// otherwise into a blob.
for (const link of document.querySelectorAll('a[data-export]')) {
  const output = link.parentElement.querySelector('output');
  link.addEventListener('click', async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.ariaDisabled === 'true') return;
    const { progress, progressOf, done, failed } = link.dataset;
    let rows = -1;
    let bytes = 0;
    const show = (text, total) => {
      const values = {
        rows: countText(Math.max(rows, 0)),
        total: total && countText(Number(total)),
        size: sizeText(bytes),
      };
      output.textContent = text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
      output.hidden = false;
    };
    try {
      const named = `${link.pathname.split('/').at(-1).replace('.csv', '')}-${new Date().toISOString().slice(0, 10)}.csv`;
      const handle = await window.showSaveFilePicker?.({ suggestedName: named });
      link.ariaDisabled = 'true';
      const response = await fetch(link.href);
      if (!response.ok || response.redirected) throw new Error(String(response.status));
      const total = response.headers.get('x-estimated-rows');
      let shownAt = 0;
      const counter = new TransformStream({
        transform(chunk, controller) {
          bytes += chunk.length;
          for (const byte of chunk) if (byte === 10) rows++;
          if (Date.now() - shownAt > 200) {
            show(total ? progressOf : progress, total);
            shownAt = Date.now();
          }
          controller.enqueue(chunk);
        },
      });
      const body = response.body.pipeThrough(counter);
      if (handle) await body.pipeTo(await handle.createWritable());
      else {
        const [, name = named] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition')) ?? [];
        const file = document.createElement('a');
        file.href = URL.createObjectURL(await new Response(body).blob());
        file.download = name;
        file.click();
        setTimeout(() => URL.revokeObjectURL(file.href), 60_000);
      }
      show(done);
    } catch (error) {
      // The operator closed the dialogue that asks for the file.
      if (error.name !== 'AbortError') show(failed);
    }
    link.ariaDisabled = 'false';
  });
}

// Uploads: shows how much has been sent. The answer is a redirect to the page of the file.
for (const form of document.querySelectorAll('form[data-upload]')) {
  const panel = form.querySelector('.upload');
  const [bar, output, button] = ['progress', 'output', 'button'].map((name) => form.querySelector(name));
  form.addEventListener('submit', (event) => {
    const [file] = form.elements.file.files;
    if (!file) return;
    event.preventDefault();
    panel.hidden = false;
    const stop = (text) => {
      bar.hidden = true;
      button.disabled = false;
      output.textContent = text;
    };
    if (file.size > Number(form.dataset.most)) {
      stop(form.dataset.tooLarge);
      return;
    }
    bar.hidden = false;
    button.disabled = true;
    const request = new XMLHttpRequest();
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      bar.value = (100 * loaded) / total;
      output.textContent = `${form.dataset.upload}: ${sizeText(loaded)} / ${sizeText(total)}`;
    });
    request.addEventListener('error', () => stop(form.dataset.failed));
    request.addEventListener('load', () => {
      const page = new URL(request.responseURL);
      if (request.status === 200 && page.pathname !== new URL(form.action).pathname) location.assign(page);
      // The file was refused: sent without the script, the answer shows why.
      else form.submit();
    });
    request.open('POST', form.action);
    request.send(new FormData(form));
  });
}

// Passkeys: a form with `data-passkey` gets its options from the server and sends the browser's result. Without
// JavaScript, or at an address that passkeys do not belong to, its button stays hidden.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { passkey: call, rp, options: source } = form.dataset;
  const isHere = rp === location.hostname;
  const isSupported = window.PublicKeyCredential?.parseRequestOptionsFromJSON && isHere;
  for (const element of form.querySelectorAll('[data-passkey-off]')) element.hidden = isSupported;
  for (const element of document.querySelectorAll('[data-passkey-elsewhere]')) element.hidden = isHere;
  if (!isSupported) continue;
  for (const element of document.querySelectorAll('[data-passkey-on]')) element.hidden = false;
  const button = form.querySelector('button[data-passkey-button]');
  const failure = form.querySelector('[data-passkey-failed]');
  button.type = 'submit';
  let waiting = new AbortController();

  const use = async (mediation) => {
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const { options, state } = await (await fetch(source, { signal })).json();
    let credential;
    if (call === 'create') {
      const typed = new FormData(form);
      options.user.name = typed.get('email') || options.user.name;
      options.user.displayName = typed.get('name') || options.user.name;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      credential = await navigator.credentials.create({ publicKey, signal });
    } else {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
      credential = await navigator.credentials.get({ publicKey, signal, ...(mediation && { mediation }) });
    }
    form.elements.state.value = state;
    form.elements.credential.value = JSON.stringify(credential.toJSON());
    form.action = button.formAction;
    form.submit();
  };

  form.addEventListener('submit', async (event) => {
    if (event.submitter !== button) return;
    event.preventDefault();
    button.disabled = true;
    failure.hidden = true;
    try {
      await use();
    } catch {
      failure.hidden = false;
      button.disabled = false;
    }
  });

  // The browser offers passkeys in the list of the e-mail field, too.
  if (call === 'get' && document.querySelector('[autocomplete~=webauthn]')) {
    PublicKeyCredential.isConditionalMediationAvailable?.()
      .then((isAvailable) => isAvailable && use('conditional'))
      .catch(() => undefined);
  }
}

// Fills a text area from a file. A certificate in binary form becomes PEM.
for (const input of document.querySelectorAll('input[data-fills]')) {
  input.hidden = false;
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (!file) return;
    const text = await file.text();
    const { fills, der } = input.dataset;
    const area = document.getElementById(fills);
    if (text.includes('-----BEGIN') || !der) area.value = text;
    else {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
      area.value = `-----BEGIN ${der}-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${der}-----`;
    }
    input.value = '';
  });
}
