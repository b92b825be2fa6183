// Shows a payment page of Turnpike in a frame of a shop's page. The file of a version never changes.
(() => {
  const OPEN = {
    ar: 'افتح صفحة الدفع',
    bg: 'Отворете страницата за плащане',
    cs: 'Otevřít platební stránku',
    da: 'Åbn betalingssiden',
    de: 'Zahlungsseite öffnen',
    el: 'Άνοιγμα της σελίδας πληρωμής',
    en: 'Open the payment page',
    es: 'Abrir la página de pago',
    fi: 'Avaa maksusivu',
    fr: 'Ouvrir la page de paiement',
    hi: 'भुगतान पृष्ठ खोलें',
    hr: 'Otvori stranicu za plaćanje',
    hu: 'Fizetési oldal megnyitása',
    id: 'Buka halaman pembayaran',
    it: 'Apri la pagina di pagamento',
    ja: 'お支払いページを開く',
    ko: '결제 페이지 열기',
    nl: 'Open de betaalpagina',
    nb: 'Åpne betalingssiden',
    no: 'Åpne betalingssiden',
    pl: 'Otwórz stronę płatności',
    pt: 'Abrir a página de pagamento',
    ro: 'Deschide pagina de plată',
    ru: 'Открыть страницу оплаты',
    sr: 'Otvori stranicu za plaćanje',
    sv: 'Öppna betalningssidan',
    th: 'เปิดหน้าชำระเงิน',
    tr: 'Ödeme sayfasını aç',
    uk: 'Відкрити сторінку оплати',
    vi: 'Mở trang thanh toán',
    zh: '打开付款页面',
  };
  const HANDLERS = { paid: 'onPaid', declined: 'onDeclined', cancelled: 'onCancelled' };
  const GREETING_MS = 2000;
  const LOADING_MS = 20000;
  const MOST_HEIGHT = 20000;
  // The origin of a web address; undefined for anything else.
  const originOf = (address) => {
    try {
      const { protocol, origin } = new URL(address);
      return /^https?:$/.test(protocol) ? origin : undefined;
    } catch {
      return undefined;
    }
  };
  const goTo = (address) => {
    if (originOf(address)) location.assign(address);
  };

  const mount = (element, options = {}) => {
    const place = typeof element === 'string' ? document.querySelector(element) : element;
    if (!(place instanceof Element)) {
      throw new TypeError('Turnpike.mount: the first argument is not an element, nor the selector of one.');
    }
    const { url } = options;
    const origin = originOf(url);
    if (!origin) {
      throw new TypeError(
        'Turnpike.mount: url is not an address. Use redirect_url of a session, or the address of a link.',
      );
    }
    const frame = document.createElement('iframe');
    // The page sends its messages to this origin only. The name stays when the frame shows the next page.
    frame.name = `turnpike:${location.origin}`;
    frame.title = 'Turnpike';
    frame.allow = 'payment *; publickey-credentials-get *; clipboard-write *; web-share *';
    Object.assign(frame.style, { display: 'block', width: '100%', height: '480px', border: '0' });

    // Without a greeting the browser has refused to show the page: the payer gets a link to it instead of a grey box.
    const hint = document.createElement('p');
    const link = document.createElement('a');
    const language = (document.documentElement.lang || navigator.language).split('-')[0].toLowerCase();
    link.textContent = OPEN[language] ?? OPEN.en;
    link.href = url;
    link.target = '_top';
    hint.append(link);
    const show = (isShown) => {
      hint.hidden = isShown;
      frame.style.display = isShown ? 'block' : 'none';
    };
    show(true);
    let isGreeted = false;
    let timer;
    const expectGreeting = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (isGreeted) return;
        show(false);
        console.error(
          `Turnpike: the browser did not show ${origin} in a frame of ${location.origin}. ` +
            'Add this origin to the account setting frame_ancestors, and check that the address of the page is valid.',
        );
      }, ms);
    };
    frame.addEventListener('load', () => {
      const wasGreeted = isGreeted;
      isGreeted = false;
      if (wasGreeted) clearTimeout(timer);
      else expectGreeting(GREETING_MS);
    });

    const told = new Set();
    const report = (type, { url: next, version }) => {
      const handler = options[HANDLERS[type]];
      // A page that is loaded again says the same again.
      if (handler && version !== undefined && told.has(type + version)) return;
      told.add(type + version);
      if (handler) handler({ url: next });
      else goTo(next);
    };
    const receive = ({ source, origin: from, data }) => {
      if (source !== frame.contentWindow || from !== origin || !data) return;
      const { turnpike: type, height, title } = data;
      if (type === 'hello') {
        isGreeted = true;
        show(true);
        frame.title = String(title);
        if (frame.getBoundingClientRect().top < 0) frame.scrollIntoView();
      } else if (type === 'height') {
        if (!(height > 0 && height <= MOST_HEIGHT)) return;
        frame.style.height = `${height}px`;
        options.onHeight?.(height);
      } else if (type === 'leave') {
        goTo(data.url);
      } else if (Object.hasOwn(HANDLERS, type)) report(type, data);
    };
    addEventListener('message', receive);
    expectGreeting(LOADING_MS);
    frame.src = url;
    place.append(frame, hint);
    return {
      unmount() {
        removeEventListener('message', receive);
        clearTimeout(timer);
        frame.remove();
        hint.remove();
      },
    };
  };
  window.Turnpike = { ...window.Turnpike, mount };
})();
