import { render } from 'preact';
import { App } from './app';
import './design/tokens.css';
import './design/base.css';
import './design/layout.css';
import './design/parts.css';
import './design/table.css';
import './design/print.css';

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
