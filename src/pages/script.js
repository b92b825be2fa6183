// The script of the payment pages. It improves them; they also work without it.
(() => {
  const { body } = document;
  const all = (selector) => [...document.querySelectorAll(selector)];
  // A payer who used the back button stays on the page: it does not redirect by itself.
  let isBack =
    performance.getEntriesByType('navigation')[0]?.type === 'back_forward' || /returned=back/.test(location.search);
  const reload = () => location.replace(location.pathname + (isBack ? '?returned=back' : location.search));
  const announce = (text) => {
    document.getElementById('said').textContent = text;
  };

  // Converts Arabic, Persian and Thai digits, and removes everything that is not a digit.
  const digitsOf = (text) => text.replace(/[٠-٩۰-۹๐-๙]/g, (digit) => digit.charCodeAt(0) & 15).replace(/\D/g, '');

  // Replaces the text of an input and keeps the caret behind the same digit.
  const write = (input, text) => {
    const before = digitsOf(input.value.slice(0, input.selectionStart)).length;
    const isAtEnd = input.selectionStart === input.value.length;
    input.value = text;
    let caret = 0;
    for (let seen = 0; seen < before && caret < text.length; caret++) if (/\d/.test(text[caret])) seen++;
    if (isAtEnd) caret = text.length;
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  };

  // The network of the number: its key, name, prefixes, lengths, length of its codes, gaps, and whether it is refused.
  const number = document.getElementById('card_number');
  const networkOf = (digits) => {
    const isIn = (range) => {
      const [first, last = first] = range.split('-');
      const head = digits.slice(0, first.length);
      return head >= first && head <= last;
    };
    const networks = number.dataset.networks.split('\n').map((line) => line.split('|'));
    return networks.find(([, , prefixes]) => prefixes.split(' ').some(isIn));
  };
  const showNetwork = () => {
    const [key, name, , , length] = networkOf(digitsOf(number.value));
    const shown = document.getElementById('network');
    if (shown.textContent !== name) shown.textContent = name;
    shown.previousElementSibling.firstElementChild.setAttribute('href', `#n-${key}`);
    for (const item of all('[data-network]')) item.toggleAttribute('data-on', item.dataset.network === key);
    const { dataset } = document.getElementById('card_cvv');
    dataset.length = all('[data-code]:has(:checked)')[0]?.dataset.code ?? length;
    dataset.wrong = dataset[`wrong-${dataset.length}`];
    document.getElementById('card_cvv-hint').textContent = dataset[`hint-${dataset.length}`];
  };
  for (const choice of all('[name=saved_card]')) choice.addEventListener('change', showNetwork);

  const format = {
    number(input) {
      const digits = digitsOf(input.value);
      const [, , , lengths, , gaps] = networkOf(digits).map((part) => part.split(','));
      write(
        input,
        digits.slice(0, lengths.pop()).replace(/./g, (digit, at) => (gaps.includes(`${at}`) ? ' ' : '') + digit),
      );
      showNetwork();
    },
    expiry(input, event) {
      if (event.inputType?.startsWith('delete')) return;
      let digits = digitsOf(input.value).slice(0, 6);
      if (/^[2-9]|^1[3-9]/.test(digits)) digits = `0${digits}`;
      write(input, digits.length < 2 ? digits : `${digits.slice(0, 2)}/${digits.slice(2)}`);
    },
    cvv(input) {
      write(input, digitsOf(input.value).slice(0, 4));
    },
  };

  const isLuhnValid = (digits) =>
    [...digits].reverse().reduce((sum, digit, index) => {
      const value = Number(digit) * ((index % 2) + 1);
      return sum + (value > 9 ? value - 9 : value);
    }, 0) %
      10 ===
    0;

  // Each returns the message about an input that is wrong.
  const checks = {
    number(text, { wrong, refused }) {
      const digits = digitsOf(text);
      const [, name, , lengths, , , isRefused] = networkOf(digits);
      if (!lengths.split(',').includes(`${digits.length}`) || !isLuhnValid(digits)) return wrong;
      return isRefused && refused.replace('{network}', name);
    },
    expiry(text, { wrong, now, expired }) {
      const [, month, year] = /^\s*(0?[1-9]|1[0-2])\s*\/\s*(?:20)?(\d\d)\s*$/.exec(text) ?? [];
      return month ? year + month.padStart(2, 0) < now && expired : wrong;
    },
    cvv: (text, { wrong, length }) => (RegExp(`^\\d{${+length || '3,4'}}$`).test(text.trim()) ? '' : wrong),
    holder: (text, { wrong }) => (text.trim().length > 1 ? '' : wrong),
    email: (text, { wrong }) => (/^\S+@\S+\.\S+$/.test(text.trim()) ? '' : wrong),
  };

  const problemOf = (input) => {
    if (input.offsetParent === null) return '';
    const { dataset, value } = input;
    const isBlank = input.type === 'checkbox' ? !input.checked : value.trim() === '';
    if (isBlank) return input.required ? (dataset.blank ?? dataset.wrong ?? input.form.dataset.blank) : '';
    return checks[dataset.check]?.(value, dataset) || '';
  };

  const showError = (input, problem) => {
    const error = document.getElementById(`${input.id}-error`);
    error.textContent = problem;
    error.hidden = problem === '';
    if (problem) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
  };
  // Validates an input and shows its problem beside it.
  const isWrong = (input) => {
    const problem = problemOf(input);
    showError(input, problem);
    return problem !== '';
  };

  const setBusy = (form, isBusy) => {
    const button = form.querySelector('button');
    const label = button.dataset.label ?? button.textContent;
    button.dataset.label = label;
    button.textContent = isBusy ? form.dataset.busy : label;
    button.disabled = isBusy;
    form.toggleAttribute('data-sent', isBusy);
    form.setAttribute('aria-busy', isBusy);
  };

  // The browser data of 3-D Secure that the request does not have.
  const { width, height, colorDepth } = screen;
  for (const input of all('[name=browser]'))
    input.value = [width, height, colorDepth, new Date().getTimezoneOffset()].join(' ');

  const inputs = all('form[data-busy] :is([required], [data-check])');
  for (const input of inputs) {
    const { check } = input.dataset;
    input.addEventListener('input', (event) => {
      format[check]?.(input, event);
      if (input.hasAttribute('aria-invalid')) isWrong(input);
    });
    // Only when the focus moves to another input: an error that moves the button would make a click miss it.
    input.addEventListener('blur', ({ relatedTarget }) => {
      if (relatedTarget?.matches('input, select') && input.value.trim() !== '') isWrong(input);
    });
    if (check === 'number' && input.value) format.number(input);
  }
  const targetOf = (element) => element.getAttribute('target') ?? '';
  const forms = all('form[data-busy]');
  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      if (form.hasAttribute('data-sent')) return event.preventDefault();
      const wrong = inputs.filter(isWrong);
      if (wrong.length > 0) {
        event.preventDefault();
        wrong[0].focus();
      } else if (/^(_self|_top|_parent)?$/.test(targetOf(form))) {
        setBusy(form, true);
        // If the submission fails, the payer can retry; the server treats it as a repeat of the same submission.
        setTimeout(setBusy, 30000, form, false);
      }
    });
  }
  // Clears the form when the payer leaves, because the browser may keep the page in its back/forward cache.
  addEventListener('pagehide', () => {
    for (const input of inputs) {
      if (input.type === 'checkbox') input.checked = false;
      else input.value = '';
      showError(input, '');
    }
    if (number) format.number(number);
    for (const notice of all('[data-marks]')) notice.hidden = true;
  });

  // Submits the form or follows the link by itself, unless the payer acts first; a new window needs a click.
  const target = document.querySelector('[data-go]');
  if (target && !isBack && targetOf(target) !== '_blank') {
    const showHint = (isOn) => {
      for (const hint of all('[data-with-go]')) hint.hidden = !isOn;
    };
    const go = () => (target.requestSubmit ? target.requestSubmit() : target.click());
    const timeout = setTimeout(go, target.dataset.go * 1000);
    showHint(true);
    for (const type of ['keydown', 'pointerdown', 'pagehide']) {
      addEventListener(type, () => {
        clearTimeout(timeout);
        showHint(false);
      });
    }
  }

  // Counts the remaining times down, and announces the last minute once.
  const start = Date.now();
  const pad = (number) => String(number).padStart(2, '0');
  const clocks = all('[data-left]');
  const tick = () => {
    for (const clock of clocks) {
      const left = Math.max(0, Math.round(clock.dataset.left - (Date.now() - start) / 1000));
      if (left < 3600) clock.textContent = `${pad(Math.floor(left / 60))}:${pad(left % 60)}`;
      if (left <= 60 && clock.dataset.soon) {
        announce(clock.dataset.soon);
        delete clock.dataset.soon;
      }
      if (left === 0) return reload();
    }
    setTimeout(tick, 1000);
  };
  if (clocks.length > 0) tick();

  // Polls the status: continuously while the page waits, otherwise whenever the page becomes visible again.
  const { status, version, waits } = body.dataset;
  let delay = 2000;
  let timer;
  let isPolling = false;
  const poll = async () => {
    if (document.hidden || isPolling) return;
    isPolling = true;
    try {
      const answer = await fetch(status, { cache: 'no-store', signal: AbortSignal.timeout?.(10000) });
      if (answer.ok && (await answer.json()).version !== version) return reload();
    } catch {
      // A network error; the next poll may succeed.
    }
    isPolling = false;
    clearTimeout(timer);
    if (waits !== undefined) timer = setTimeout(poll, delay);
    delay = Math.min(delay * 1.2, 15000);
  };
  const pollNow = () => {
    clearTimeout(timer);
    delay = 2000;
    if (status) poll();
  };
  if (waits !== undefined) timer = setTimeout(poll, delay);
  document.addEventListener('visibilitychange', pollNow);
  addEventListener('focus', pollNow);
  // A page that the browser restored gets an enabled button, and polls whether the payment has changed.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    for (const form of forms) setBusy(form, false);
    isBack = true;
    isPolling = false;
    pollNow();
  });

  for (const button of all('[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }

  // Buttons that copy an account number.
  const buttons = all('[data-copied]');
  for (const button of buttons) {
    const { copy, copied } = button.dataset;
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      const value = button.parentElement.nextElementSibling;
      // Screen readers announce a repeated text only if it was removed in between.
      announce('');
      try {
        await navigator.clipboard.writeText(value.textContent);
        for (const each of buttons) {
          each.textContent = each === button ? copied : copy;
          each.ariaLabel = `${each.textContent}: ${each.previousSibling.data}`;
        }
        announce(button.ariaLabel);
      } catch {
        // Frames may forbid clipboard access; selected text can be copied manually.
        getSelection().selectAllChildren(value);
      }
    });
  }
})();
