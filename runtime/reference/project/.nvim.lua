-- Neovim from 0.9 on reads this file after :set exrc, once it is trusted; older ones with
-- nvim --cmd "luafile .nvim.lua".
local settings = { name = "transect", cmd = { "transect", "lsp" }, root_dir = vim.fn.getcwd() }
local client -- before Neovim 0.8, which has vim.lsp.start

vim.api.nvim_create_autocmd("FileType", {
  pattern = "lua",
  callback = function()
    vim.bo.expandtab, vim.bo.shiftwidth = true, 2
    vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc" -- Ctrl-X Ctrl-O completes
    if vim.lsp.start then
      vim.lsp.start(settings)
    else
      client = client or vim.lsp.start_client(settings)
      vim.lsp.buf_attach_client(0, client)
    end
  end,
})

-- With nvim-dap, :lua require("dap").continue() debugs the script of the window.
local found, dap = pcall(require, "dap")
if found then
  dap.adapters.transect = { type = "executable", command = "transect", args = { "dap" } }
  dap.configurations.lua = dap.configurations.lua or {}
  table.insert(dap.configurations.lua, { type = "transect", request = "launch",
    name = "Debug this script on the local platform", program = "${file}", cwd = "${workspaceFolder}", ["local"] = true })
end
