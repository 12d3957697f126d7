#include "fovea/base/json.h"
#include "fovea/inspect/attention_view.h"

namespace fovea {
namespace {

// The page draws with plain DOM calls and textContent; the data is a JSON block that nothing can
// break out of ("<" is escaped).
constexpr const char* page_head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fovea: attention</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root{--ink:#1b1f24;--paper:#fbfaf7;--line:#d9d5cc;--hot:24,86,148}
@media(prefers-color-scheme:dark){:root{--ink:#e8e6e1;--paper:#16181b;--line:#3a3d42;--hot:120,180,240}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.3rem;margin:0 0 .2rem}p{margin:.2rem 0}
.controls{display:flex;gap:1rem;flex-wrap:wrap;margin:1rem 0}select{font:inherit;padding:.2rem .4rem}
.maps{display:flex;gap:2rem;flex-wrap:wrap}.map{overflow:auto}
table{border-collapse:collapse}th{font-weight:500;font-size:.85rem;white-space:nowrap}
thead th{writing-mode:vertical-rl;transform:rotate(180deg);padding:.3rem 0;text-align:left}
tbody th{text-align:right;padding-right:.5rem}
td{width:1.7rem;height:1.5rem;border:1px solid var(--line);font-size:.65rem;text-align:center}
tr:hover th{font-weight:700}.note{color:#777;font-size:.85rem}
</style></head><body>
<h1>Attention of one example</h1>
<p>source: <b id="source"></b></p><p>target: <b id="target"></b></p>
<div class="controls"><label>layer <select id="layer"></select></label>
<label>head <select id="head"></select></label></div>
<div class="maps" id="maps"></div>
<p class="note">Rows look, columns are looked at; each row sums to 1. Attention shows where a model reads,
not why it answers.</p>
<script type="application/json" id="data">)";

constexpr const char* page_tail = R"(</script>
<script>
const data=JSON.parse(document.getElementById('data').textContent);
const $=id=>document.getElementById(id);
$('source').textContent=data.source;$('target').textContent=data.target;
const layers=Math.max(...data.maps.map(m=>m.layer))+1,heads=data.maps[0].weight.length;
for(let l=0;l<layers;l++)$('layer').append(new Option(String(l+1),l));
$('head').append(new Option('mean of all',-1));
for(let h=0;h<heads;h++)$('head').append(new Option(String(h+1),h));
$('layer').value=layers-1;
function weights(m,h){
  if(h>=0)return m.weight[h];
  return m.weight[0].map((row,q)=>row.map((_,k)=>m.weight.reduce((s,w)=>s+w[q][k],0)/m.weight.length));
}
function cell(tag,text){const e=document.createElement(tag);e.textContent=text;return e;}
function draw(){
  $('maps').replaceChildren();
  for(const m of data.maps){
    if(m.layer!=$('layer').value)continue;
    const box=document.createElement('div');box.className='map';
    box.append(cell('p',m.name));
    const table=document.createElement('table'),head=document.createElement('thead'),top=document.createElement('tr');
    top.append(cell('th',''));for(const k of m.keys)top.append(cell('th',k));head.append(top);table.append(head);
    const body=document.createElement('tbody');
    weights(m,Number($('head').value)).forEach((row,q)=>{
      const tr=document.createElement('tr');tr.append(cell('th',m.queries[q]));
      row.forEach((w,k)=>{const td=cell('td',w>=0.1?w.toFixed(1).replace('0.','.'):'');
        td.style.background=`rgba(var(--hot),${Math.sqrt(w).toFixed(3)})`;
        if(w>0.35)td.style.color='var(--paper)';
        td.title=`${m.queries[q]} looks at ${m.keys[k]}: ${w.toFixed(4)}`;tr.append(td);});
      body.append(tr);});
    table.append(body);box.append(table);$('maps').append(box);
  }
}
$('layer').onchange=draw;$('head').onchange=draw;draw();
</script></body></html>
)";

}  // namespace

std::string html_page(const AttentionView& view) {
    Json data;
    data["schema"] = "fovea.attention";
    data["version"] = 1;
    data["source"] = view.source_text;
    data["target"] = view.target_text;
    for (const AttentionMap& m : view.maps)
        data["maps"].push_back({{"name", m.name},
                                {"kind", m.kind},
                                {"layer", m.layer},
                                {"queries", view.queries(m)},
                                {"keys", view.keys(m)},
                                {"weight", m.weight}});
    std::string json;
    for (const char c : to_text(data)) {
        if (c == '<')
            json += "\\u003c";
        else
            json += c;
    }
    return page_head + json + page_tail;
}

}  // namespace fovea
